"""HTML, CSS and JavaScript of the web console; served by `orchestrator.api.routes.console`."""
