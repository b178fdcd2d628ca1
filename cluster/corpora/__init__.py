"""Ingest of papers from data sources, and building of a corpus on a Ray cluster."""
