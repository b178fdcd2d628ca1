"""Parsers of untrusted PDFs, web pages and Python files, each run in a process of its own under resource limits.

`runner` is the parent's side. `pdf_parser`, `page_parser` and `python_definitions` are the programs that it starts with
`python -m`; they import little of ours, so nothing is imported here.
"""
