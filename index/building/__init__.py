"""Building of corpus versions from records, from scratch or as an update, with reused vectors and checks before
publishing."""
