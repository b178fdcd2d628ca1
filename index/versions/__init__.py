"""The directory of a corpus: manifests, the name of the current version, and the proof that files are whole."""
