"""Calls between services: server, client, errors and deadlines."""
