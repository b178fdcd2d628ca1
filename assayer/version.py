"""Version of assayer."""

__version__ = "0.1.0"
