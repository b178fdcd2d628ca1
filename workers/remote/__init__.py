"""The one door to every remote API: turns inside global limits, shared cache, retries, breaker.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.remote.settings import SourceSettings

__all__ = ["SourceSettings"]
