"""A corpus in shards: one directory, versions of the whole, and answers merged exactly."""
