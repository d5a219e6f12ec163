"""Models that lie on this machine's disk: which there are, where they lie, how they are fetched, and how Qwen3 runs."""
