"""Command line `assayer`: one module per command; `main` combines them."""
