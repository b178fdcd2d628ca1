"""The gateway to every remote source: global rate limits, shared cache, retries, circuit breaker.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.remote.settings import SourceSettings

__all__ = ["SourceSettings"]
