"""Parsers of untrusted documents, pages and Python files, each run in a separate process under resource limits.

`runner` is the parent's side, `program` the child's, which imports the parser only after its limits are set."""
