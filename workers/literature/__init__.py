"""The literature of an evaluation: the local corpus first, topped up from remote sources, merged and accounted for.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.literature.settings import LiteratureSettings

__all__ = ["LiteratureSettings"]
