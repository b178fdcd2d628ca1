"""Benchmark of hidden-text detection: hidden text found in PDFs and pages, and visible text wrongly flagged."""
