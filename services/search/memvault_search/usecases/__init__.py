"""What search does, one file for each purpose: the order of waiting and of pure steps."""
