"""Embedding: texts to vectors by a sentence-transformers model on this machine.

Nothing is imported here, so that reading the settings loads nothing that does the work.
"""
