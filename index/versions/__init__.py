"""Directory of a corpus: manifests, the current version, and verification of files."""
