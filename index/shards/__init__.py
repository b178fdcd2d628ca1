"""Sharded corpus: a single directory, versions of the whole corpus, and merged results."""
