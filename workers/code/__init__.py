"""Repositories of code: search, and reading without running anything.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.code.settings import CodeSettings

__all__ = ["CodeSettings"]
