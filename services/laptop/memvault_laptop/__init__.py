"""memvault laptop service."""
