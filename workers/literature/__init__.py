"""An evaluation's literature: results from the local corpus, supplemented by and merged with those of remote sources.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.literature.settings import LiteratureSettings

__all__ = ["LiteratureSettings"]
