"""Reference lists: found in a text, split into entries, and entries split into fields."""
