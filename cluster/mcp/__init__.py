"""Model Context Protocol server: tools for agents, each of which sends a request to the service with the caller's own
key."""
