"""arXiv's query language: fields, phrases, dates, AND, OR, ANDNOT and brackets; words side by side mean OR.

query = part {[AND | OR | ANDNOT] part}, from left to right
part  = "(" query ")" | field ":" "(" query ")" | [field ":"] (word | "phrase" | [from TO to])
"""

import datetime as dt
import re

import numpy as np
from numpy.typing import NDArray

from benchmarks.simulator.outside.library import Library
from benchmarks.simulator.outside.lookup import words

__all__ = ["BadQuery", "Searcher"]

Scores = NDArray[np.float64]
"""One a paper; 0 where it does not match."""

_TOKEN = re.compile(
    r'\s*(?:(?P<field>[a-zA-Z_]+):|(?P<bracket>[()])|"(?P<phrase>[^"]*)"|\[(?P<range>[^\]]*)\]|'
    r'(?P<word>[^\s()"\[\]]+))'
)
_DATES = frozenset({"submittedDate", "lastUpdatedDate"})
_WORDS = frozenset({"all", "ti", "abs"})
_NOT_KEPT = frozenset({"co", "jr", "rn", "id", "doi"})
_FIELDS = _DATES | _WORDS | _NOT_KEPT | {"au", "cat"}
_OPERATORS = frozenset({"AND", "OR", "ANDNOT"})
_RANGE = re.compile(r"(\d{8})(\d{4})? TO (\d{8})(\d{4})?")
_MATCH = 1e-3
"""Score of a match by something else than words."""


class BadQuery(Exception):
    pass


class Searcher:
    def __init__(self, library: Library) -> None:
        self._library = library
        here = [entry.arxiv_date.toordinal() if entry.arxiv_date else 0 for entry in library.entries]
        self._days = np.array(here, np.int64)

    def scores(self, query: str) -> Scores:
        """Of all papers, those that are not on arXiv 0. Raises BadQuery."""
        scores = _Parser(self, query).whole() if query.strip() else np.zeros(len(self._days))
        return np.where(self._days > 0, scores, 0.0)

    def term(self, field: str, text: str, phrase: bool) -> Scores:
        if field in _DATES:
            return self._between(text)
        if field == "au":
            return self._authors(text.lower().replace("_", " "))
        if field == "cat":
            return np.full(len(self._days), _MATCH if text.rstrip("*").startswith("cs") else 0.0)
        if field in _NOT_KEPT:
            return np.zeros(len(self._days))
        return self._words(field, text, phrase)

    def _words(self, field: str, text: str, phrase: bool) -> Scores:
        wanted = words(text.replace("-", " "))
        if not wanted:
            return np.zeros(len(self._days))
        scores = np.asarray(self._library.lookup.scores(" ".join(wanted)), np.float64)
        if field == "ti" or (phrase and len(wanted) > 1):
            for number in np.flatnonzero(scores):
                record = self._library.entries[number].record
                said = words(record.title if field == "ti" else f"{record.title} {record.abstract}")
                if not (_run(wanted, said) if phrase else set(wanted) & set(said)):
                    scores[number] = 0.0
        return scores

    def _between(self, text: str) -> Scores:
        match = _RANGE.fullmatch(text.strip())
        if match is None:
            raise BadQuery(f"Invalid query string: '{text}'")
        try:
            first, last = (dt.datetime.strptime(match[group], "%Y%m%d").date().toordinal() for group in (1, 3))
        except ValueError as error:
            raise BadQuery(f"Invalid query string: '{text}'") from error
        # Papers come in at noon: a period that ends before noon does not hold that day's.
        last -= (match[4] or "2359") < "1200"
        first += (match[2] or "0000") > "1200"
        return np.where((first <= self._days) & (self._days <= last), _MATCH, 0.0)

    def _authors(self, name: str) -> Scores:
        named = [name in " ".join(entry.record.authors).lower() for entry in self._library.entries]
        return np.where(named, _MATCH, 0.0)


def _run(wanted: list[str], said: list[str]) -> bool:
    """Whether the words stand there one after another."""
    size = len(wanted)
    return any(said[start : start + size] == wanted for start in range(len(said) - size + 1))


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
            if self._tokens[0][0] == "word" and self._tokens[0][1] in _OPERATORS:
                operator = self._tokens.pop(0)[1]
                if scores is None:
                    raise self._bad()
            part = self._part(field)
            scores = part if scores is None else _joined(scores, operator, part)
        if scores is None:
            raise self._bad()
        return scores

    def _part(self, field: str) -> Scores:
        if not self._tokens:
            raise self._bad()
        kind, text = self._tokens.pop(0)
        if kind == "field":
            if text not in _FIELDS:
                raise BadQuery(f"Invalid field: {text}")
            return self._part(text)
        if (kind, text) == ("bracket", "("):
            scores = self._sequence(field)
            if not self._tokens or self._tokens.pop(0) != ("bracket", ")"):
                raise self._bad()
            return scores
        if kind == "bracket" or (kind == "word" and text in _OPERATORS):
            raise self._bad()
        return self._searcher.term(field, text, phrase=kind == "phrase")

    def _bad(self) -> BadQuery:
        return BadQuery(f"Invalid query string: '{self._query}'")


def _joined(left: Scores, operator: str, right: Scores) -> Scores:
    if operator == "AND":
        return np.where((left > 0) & (right > 0), left + right, 0.0)
    if operator == "ANDNOT":
        return np.where(right > 0, 0.0, left)
    return left + right
