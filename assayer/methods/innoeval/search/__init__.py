"""Search from the idea's parts to the sources that are read: rounds of queries, selection, and slow reading of the
best."""
