"""Sharded corpora: several shards in one directory, with versions of the whole corpus and merged results."""
