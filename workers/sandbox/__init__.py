"""Parsers of untrusted documents, pages and Python files, each run in a process of its own under resource limits.

`runner` is the parent's side, `program` the child's; it imports the parser once its limits are set.
"""
