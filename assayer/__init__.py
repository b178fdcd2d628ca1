"""Domain model of assayer: ideas, papers, reviews, reports, and the methods that judge ideas.

This package does not depend on HTTP, SQL, FAISS or Ray; methods reach external backends through `assayer.ports`."""

from importlib.metadata import version

__version__ = version("assayer")
