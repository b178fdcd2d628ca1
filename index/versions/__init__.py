"""A corpus's directory: manifests, the current version, and verification of files."""
