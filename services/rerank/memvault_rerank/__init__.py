"""memvault rerank service."""
