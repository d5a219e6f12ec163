"""Decode, call a use case, encode: `rpc` for questions, `events` for facts."""
