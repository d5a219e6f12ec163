"""The order of input, pure steps and output, one file per concern."""
