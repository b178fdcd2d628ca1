"""HTML and CSS of the API reference page, served by `orchestrator.api.routes.reference_page`."""
