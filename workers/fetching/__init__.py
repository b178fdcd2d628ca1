"""Downloads from URLs found in data: from public hosts only, with limits on size and time, and typed failures.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.fetching.settings import DownloadLimits, FetchingSettings

__all__ = ["DownloadLimits", "FetchingSettings"]
