"""memvault router service."""
