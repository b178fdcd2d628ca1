"""Literature of an evaluation: the local corpus first, supplemented from remote sources, merged and accounted for.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.literature.settings import LiteratureSettings

__all__ = ["LiteratureSettings"]
