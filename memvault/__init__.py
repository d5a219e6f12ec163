"""memvault: the kernel that the services share: contract, numbers, bus, calls, screening, text and command line."""
