"""Blind mode: removes text that identifies an idea's authors."""
