"""The open web: a search API, and reading of pages.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.web.settings import PageSettings

__all__ = ["PageSettings"]
