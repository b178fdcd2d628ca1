"""Batches of many ideas in a single request, row by row, and their results in a single file. Pure functions from bytes
to values."""
