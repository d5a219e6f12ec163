"""The edge of the service: decode, call a use case, encode."""
