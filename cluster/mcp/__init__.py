"""Model Context Protocol (MCP) server that offers the service to agents as tools. Each tool sends its requests with the
caller's own key."""
