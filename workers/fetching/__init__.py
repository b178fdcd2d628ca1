"""Guarded downloads of addresses that come from data: public hosts only, limits on everything, typed failures.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.fetching.settings import DownloadLimits, FetchingSettings

__all__ = ["DownloadLimits", "FetchingSettings"]
