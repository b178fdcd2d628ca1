"""Subset of arXiv's query language: `all:word`, dates, AND, OR and brackets.

query = part {(AND | OR) part}, from left to right part = "(" query ")" | field ":" (word | [from TO to])
"""

import datetime as dt
import re

import numpy as np
from numpy.typing import NDArray

from simulator.outside.library import Library
from simulator.outside.lookup import split_words

Scores = NDArray[np.float64]
"""One score per paper; 0 if it does not match."""

_TOKEN = re.compile(r"\s*(?:(?P<field>[a-zA-Z_]+):|(?P<bracket>[()])|\[(?P<range>[^\]]*)\]|(?P<word>[^\s()\"\[\]]+))")
_RANGE = re.compile(r"(\d{8})(\d{4})? TO (\d{8})(\d{4})?")
_DATE_MATCH_SCORE = 1e-3
"""Score of a match by date rather than by words."""


class BadQuery(Exception):
    pass


class Searcher:
    def __init__(self, library: Library) -> None:
        self._library = library
        days = [entry.arxiv_date.toordinal() if entry.arxiv_date else 0 for entry in library.entries]
        self._days = np.array(days, np.int64)

    def compute_scores(self, query: str) -> Scores:
        """Return the scores of all papers; 0 for those not on arXiv. Raises BadQuery."""
        scores = _Parser(self, query).parse() if query.strip() else np.zeros(len(self._days))
        return np.where(self._days > 0, scores, 0.0)

    def score_term(self, field: str, text: str) -> Scores:
        if field == "submittedDate":
            return self._score_period(text)
        return np.asarray(self._library.lookup.compute_scores(" ".join(split_words(text))), np.float64)

    def _score_period(self, text: str) -> Scores:
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
        return np.where((first <= self._days) & (self._days <= last), _DATE_MATCH_SCORE, 0.0)


class _Parser:
    def __init__(self, searcher: Searcher, query: str) -> None:
        self._searcher = searcher
        self._tokens: list[tuple[str, str]] = []
        position = 0
        query = query.strip()
        while position < len(query):
            match = _TOKEN.match(query, position)
            if match is None or match.lastgroup is None:
                raise BadQuery(f"Invalid query string: '{query}'")
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            position = match.end()
        self._query = query

    def parse(self) -> Scores:
        scores = self._parse_sequence("all")
        if self._tokens:
            raise self._build_error()
        return scores

    def _parse_sequence(self, field: str) -> Scores:
        scores: Scores | None = None
        while self._tokens and self._tokens[0] != ("bracket", ")"):
            operator = "OR"
            if self._tokens[0][0] == "word" and self._tokens[0][1] in ("AND", "OR"):
                operator = self._tokens.pop(0)[1]
                if scores is None:
                    raise self._build_error()
            part = self._parse_part(field)
            scores = part if scores is None else _combine_scores(scores, operator, part)
        if scores is None:
            raise self._build_error()
        return scores

    def _parse_part(self, field: str) -> Scores:
        if not self._tokens:
            raise self._build_error()
        kind, text = self._tokens.pop(0)
        if kind == "field":
            if text not in ("all", "submittedDate"):
                raise BadQuery(f"Invalid field: {text}")
            return self._parse_part(text)
        if (kind, text) == ("bracket", "("):
            scores = self._parse_sequence(field)
            if not self._tokens or self._tokens.pop(0) != ("bracket", ")"):
                raise self._build_error()
            return scores
        if kind == "bracket" or (kind == "word" and text in ("AND", "OR")):
            raise self._build_error()
        return self._searcher.score_term(field, text)

    def _build_error(self) -> BadQuery:
        return BadQuery(f"Invalid query string: '{self._query}'")


def _combine_scores(left: Scores, operator: str, right: Scores) -> Scores:
    if operator == "AND":
        return np.where((left > 0) & (right > 0), left + right, 0.0)
    return left + right
