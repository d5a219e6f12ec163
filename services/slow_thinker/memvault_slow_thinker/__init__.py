"""memvault slow thinker service."""
