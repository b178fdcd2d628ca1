"""Build corpus versions from records, from scratch or as updates, with reused vectors and checks before publishing."""
