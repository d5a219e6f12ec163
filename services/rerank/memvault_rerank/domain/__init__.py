"""Pure rules of rerank: no network, no clock, no randomness."""
