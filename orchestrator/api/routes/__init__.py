"""The API's routers, one module per resource. `orchestrator.application` combines them."""
