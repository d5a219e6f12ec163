"""Fits what the specification calls fitted, on development data, and writes it into `memvault/defaults.toml`."""
