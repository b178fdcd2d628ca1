"""Version of this client."""

__version__ = "0.1.0"
