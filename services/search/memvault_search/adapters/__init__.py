"""Technologies behind the ports of search, one file each."""
