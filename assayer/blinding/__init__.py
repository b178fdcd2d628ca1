"""Blind mode: mask text that identifies an idea's authors."""
