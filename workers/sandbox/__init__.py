"""Parse untrusted documents, pages and Python files in separate processes under resource limits.

`runner` runs in the parent process; `program` runs in the child, and imports the parser only after its limits are
set."""
