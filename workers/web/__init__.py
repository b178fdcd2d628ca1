"""Search the web through an API, and read pages.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.web.settings import PageSettings

__all__ = ["PageSettings"]
