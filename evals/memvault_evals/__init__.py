"""Quality and speed of memvault against public data and against its own floors; asks over HTTP only."""
