"""Ingestion of papers from data sources, and corpus builds on a Ray cluster."""
