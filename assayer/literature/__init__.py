"""The literature of one evaluation: what may be used of it, and which records are the same paper."""
