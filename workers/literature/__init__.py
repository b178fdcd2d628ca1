"""Literature of an evaluation: results from the local corpus, supplemented from remote sources and merged with them.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.literature.settings import LiteratureSettings

__all__ = ["LiteratureSettings"]
