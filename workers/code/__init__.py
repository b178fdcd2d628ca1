"""Search code repositories, and read them without running any code.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.code.settings import CodeSettings

__all__ = ["CodeSettings"]
