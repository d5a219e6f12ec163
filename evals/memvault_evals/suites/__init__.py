"""The suites. Each measures its sets through the running product; adding one is a module and a line in `SUITES`."""
