"""Pure rules of search: no network, no clock, no randomness."""
