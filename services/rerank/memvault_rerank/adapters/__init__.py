"""Models behind the port of rerank, one file each."""
