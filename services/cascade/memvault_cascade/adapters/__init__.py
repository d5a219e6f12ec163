"""Technologies behind the ports, one file each."""
