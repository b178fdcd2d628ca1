"""Builds versions from records: anew or by an update, which vectors are reused, and checks before publishing."""
