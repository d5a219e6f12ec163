"""`memvault models`: what each role uses, whether it works, how fast it is, and how to get another."""
