"""Pure: what the gateway decides, without network, clock or framework."""
