"""Batches: many ideas in one request, row by row; their results in one file. Pure: bytes in, values out."""
