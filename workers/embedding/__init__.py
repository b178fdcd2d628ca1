"""Embed texts as vectors with a model on this machine.

Nothing is imported here, so that importing the settings does not load the implementation."""
