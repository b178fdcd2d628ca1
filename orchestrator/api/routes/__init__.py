"""Routers of the API, a module per resource; `orchestrator.application` combines them."""
