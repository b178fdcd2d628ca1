"""HTML and CSS of the page of the API's reference; served by `orchestrator.api.routes.reference_page`."""
