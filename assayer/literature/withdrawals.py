"""Detect withdrawn arXiv papers. arXiv has no field for withdrawals: authors announce them in the comment, or in place
of the abstract."""

import re

_WITHDRAWN = re.compile(
    r"\b(?:paper|article|submission|manuscript|preprint|work)\s+(?:has|have|is|was)\s+(?:\w+\s+){0,3}withdrawn\b"
    r"|\bwithdrawn\s+by\s+(?:the\s+)?(?:submitter|authors?|arxiv)\b"
    r"|\A\W*withdrawn\b",
    re.IGNORECASE,
)
_IN_COMMENT = re.compile(r"(?:\A|[;.,(])\s*withdrawn\s*(?:[;.,)]|\Z)", re.IGNORECASE)
"""Matches a comment such as `37 pages; withdrawn`."""
_MAX_ABSTRACT_CHARS_SEARCHED = 200
"""Number of characters at the start of an abstract that are searched for a withdrawal. Further on, the word has its
ordinary meaning."""


def says_withdrawn(comment: str, abstract: str) -> bool:
    return bool(
        _WITHDRAWN.search(comment)
        or _IN_COMMENT.search(comment)
        or _WITHDRAWN.search(abstract[:_MAX_ABSTRACT_CHARS_SEARCHED])
    )
