"""Pure rules of the cascade service: no network, no clock, no randomness."""
