"""Parse untrusted documents, pages and Python files in separate processes under resource limits.

`runner` runs in the parent process, `program` in the child, which imports the parser only after its limits are set."""
