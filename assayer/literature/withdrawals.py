"""arXiv has no field for a withdrawal: authors say so in the comment, or in the place of the abstract."""

import re

__all__ = ["says_withdrawn"]

_WITHDRAWN = re.compile(
    r"\b(?:paper|article|submission|manuscript|preprint|work)\s+(?:has|have|is|was)\s+(?:\w+\s+){0,3}withdrawn\b"
    r"|\bwithdrawn\s+by\s+(?:the\s+)?(?:submitter|authors?|arxiv)\b"
    r"|\A\W*withdrawn\b",
    re.IGNORECASE,
)
_BEGINNING = 200
"""Characters of an abstract in which a withdrawal is announced; further on it is a word like any other."""


def says_withdrawn(comment: str, abstract: str) -> bool:
    return bool(_WITHDRAWN.search(comment) or _WITHDRAWN.search(abstract[:_BEGINNING]))
