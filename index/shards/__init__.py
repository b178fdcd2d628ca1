"""A corpus in shards: one directory, versions of the whole, and answers that are merged."""
