"""The pure part of the router: what a question asks, decided without network, clock or chance."""
