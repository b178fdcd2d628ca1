"""Guarded downloads from addresses found in data: public hosts only, limits on everything, typed failures.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.fetching.settings import DownloadLimits, FetchingSettings

__all__ = ["DownloadLimits", "FetchingSettings"]
