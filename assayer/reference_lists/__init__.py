"""Reference lists: finding them in a text, splitting them into entries, and splitting entries into fields."""
