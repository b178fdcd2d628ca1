"""A Model Context Protocol server: tools for agents, each a request to the service with its caller's own key."""
