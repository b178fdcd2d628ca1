"""Web pages to text, in a confined process: `python -m workers.pages`.

Nothing is imported here: the confined process loads this package and little else of ours.
"""
