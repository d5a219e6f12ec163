"""One file per technology and peer."""
