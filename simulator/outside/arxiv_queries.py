"""Subset of arXiv's query language: `all:word`, dates, AND, OR and brackets.

query = part {(AND | OR) part}, from left to right part = "(" query ")" | field ":" (word | [from TO to])
"""

import datetime as dt
import re

import numpy as np
from numpy.typing import NDArray

from simulator.outside.library import Library
from simulator.outside.lookup import words

Scores = NDArray[np.float64]
"""One score per paper; 0 if it does not match."""

_TOKEN = re.compile(r"\s*(?:(?P<field>[a-zA-Z_]+):|(?P<bracket>[()])|\[(?P<range>[^\]]*)\]|(?P<word>[^\s()\"\[\]]+))")
_RANGE = re.compile(r"(\d{8})(\d{4})? TO (\d{8})(\d{4})?")
_MATCH = 1e-3
"""Score of a match by date rather than by words."""


class BadQuery(Exception):
    pass


class Searcher:
    def __init__(self, library: Library) -> None:
        self._library = library
        days = [entry.arxiv_date.toordinal() if entry.arxiv_date else 0 for entry in library.entries]
        self._days = np.array(days, np.int64)

    def scores(self, query: str) -> Scores:
        """Return the scores of all papers; 0 for those not on arXiv. Raises BadQuery."""
        scores = _Parser(self, query).whole() if query.strip() else np.zeros(len(self._days))
        return np.where(self._days > 0, scores, 0.0)

    def term(self, field: str, text: str) -> Scores:
        if field == "submittedDate":
            return self._between(text)
        return np.asarray(self._library.lookup.scores(" ".join(words(text))), np.float64)

    def _between(self, text: str) -> Scores:
        match = _RANGE.fullmatch(text.strip())
        if match is None:
            raise BadQuery(f"Invalid query string: '{text}'")
        try:
            first, last = (dt.datetime.strptime(match[group], "%Y%m%d").date().toordinal() for group in (1, 3))
        except ValueError as error:
            raise BadQuery(f"Invalid query string: '{text}'") from error
        # Papers are submitted at noon, so a period that ends before noon excludes those of its last day.
        last -= (match[4] or "2359") < "1200"
        first += (match[2] or "0000") > "1200"
        return np.where((first <= self._days) & (self._days <= last), _MATCH, 0.0)


class _Parser:
    def __init__(self, searcher: Searcher, query: str) -> None:
        self._searcher = searcher
        self._tokens: list[tuple[str, str]] = []
        place = 0
        query = query.strip()
        while place < len(query):
            match = _TOKEN.match(query, place)
            if match is None or match.lastgroup is None:
                raise BadQuery(f"Invalid query string: '{query}'")
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        self._query = query

    def whole(self) -> Scores:
        scores = self._sequence("all")
        if self._tokens:
            raise self._bad()
        return scores

    def _sequence(self, field: str) -> Scores:
        scores: Scores | None = None
        while self._tokens and self._tokens[0] != ("bracket", ")"):
            operator = "OR"
            if self._tokens[0][0] == "word" and self._tokens[0][1] in ("AND", "OR"):
                operator = self._tokens.pop(0)[1]
                if scores is None:
                    raise self._bad()
            part = self._part(field)
            scores = part if scores is None else _combine_scores(scores, operator, part)
        if scores is None:
            raise self._bad()
        return scores

    def _part(self, field: str) -> Scores:
        if not self._tokens:
            raise self._bad()
        kind, text = self._tokens.pop(0)
        if kind == "field":
            if text not in ("all", "submittedDate"):
                raise BadQuery(f"Invalid field: {text}")
            return self._part(text)
        if (kind, text) == ("bracket", "("):
            scores = self._sequence(field)
            if not self._tokens or self._tokens.pop(0) != ("bracket", ")"):
                raise self._bad()
            return scores
        if kind == "bracket" or (kind == "word" and text in ("AND", "OR")):
            raise self._bad()
        return self._searcher.term(field, text)

    def _bad(self) -> BadQuery:
        return BadQuery(f"Invalid query string: '{self._query}'")


def _combine_scores(left: Scores, operator: str, right: Scores) -> Scores:
    if operator == "AND":
        return np.where((left > 0) & (right > 0), left + right, 0.0)
    return left + right
