"""What OpenAlex makes of `search` and `filter`."""

import datetime as dt
import re
from collections.abc import Callable, Sequence

from benchmarks.simulator.outside.library import Entry, Library
from benchmarks.simulator.outside.lookup import words
from benchmarks.simulator.outside.openalex_works import abstract_known, doi_of, known_as, publication_date

__all__ = ["Condition", "QueryRefused", "conditions", "searched"]

Condition = Callable[[Entry], bool]

_MOST_VALUES = 100
_TOKEN = re.compile(r'"([^"]*)"(?:~\d+)?|([()])|([^\s()"]+)')
_FIELDS = """
    openalex openalex_id ids.openalex doi ids.doi pmid ids.pmid cites from_publication_date to_publication_date
    publication_year is_retracted has_abstract has_doi open_access.is_oa is_oa
"""


class QueryRefused(Exception):
    """In OpenAlex's words."""


def searched(query: str) -> Condition:
    """All words must occur in title or abstract, stemmed and without stop words; AND, OR, NOT, quotes, brackets."""
    unquoted = re.sub(r'"[^"]*"', " ", query)
    for sign in ("!", "|"):
        if any(word.startswith("!") for word in query.split()) if sign == "!" else sign in query:
            raise QueryRefused(f"The search parameter does not support the {sign} operator. Problem value: {query}")
    if "*" in unquoted or "?" in unquoted:
        raise QueryRefused(
            "Wildcards (* or ?) require exact (no-stem) search. The default search is stemmed, so the literal text "
            "before the wildcard is removed when the work is indexed and the search returns wrong results. Use the "
            f"search.exact= parameter instead (or the default.search.exact filter), e.g. search.exact={query}."
        )
    return _Expression(query).read()


def conditions(library: Library, text: str) -> list[Condition]:
    """Of a filter: conditions separated by commas, values by bars, `!` for none of them."""
    found = list[Condition]()
    for part in text.split(",") if text else ():
        field, colon, value = part.partition(":")
        if not colon:
            raise QueryRefused(f"Invalid query parameter in {part}.")
        if field not in _FIELDS.split():
            valid = ", ".join(_FIELDS.split())
            raise QueryRefused(
                f"{field} is not a valid field. Valid fields are underscore or hyphenated versions of: {valid}"
            )
        found.append(_condition(library, field, value))
    return found


def _condition(library: Library, field: str, value: str) -> Condition:
    values = value.removeprefix("!").split("|")
    if len(values) > _MOST_VALUES:
        raise QueryRefused(
            f"Maximum number of values exceeded for {field}. Decrease values to {_MOST_VALUES} or below, or consider "
            "downloading the full dataset at https://docs.openalex.org/download-snapshot"
        )
    if any(one.startswith("!") for one in values):
        raise QueryRefused(
            "The ! operator can only be used at the beginning of an OR query, like /works?filter=concepts.id:"
            "!C144133560|C15744967, meaning NOT (C144133560 or C15744967). Problem value: " + value
        )
    matching = _matching(library, field, values)
    return (lambda entry: not matching(entry)) if value.startswith("!") else matching


def _matching(library: Library, field: str, values: Sequence[str]) -> Condition:
    match field.removeprefix("ids.").removesuffix("_id"):
        case "openalex" | "doi" | "pmid" as kind:
            numbers = {entry.number for one in values if (entry := known_as(library, kind, one))}
            return lambda entry: entry.number in numbers
        case "cites":
            cited = [entry for one in values if (entry := known_as(library, "openalex", one))]
            citing = {entry.number for one in cited for entry in library.citations(one)}
            return lambda entry: entry.number in citing
        case "from_publication_date":
            first = _day(values[0])
            return lambda entry: (publication_date(entry) or dt.date.min) >= first
        case "to_publication_date":
            last = _day(values[0])
            return lambda entry: (publication_date(entry) or dt.date.max) <= last
        case "publication_year":
            years = {one for one in values if one.isdecimal()}
            return lambda entry: str(entry.record.year) in years
        case _:
            return _truth(field, values[0])


def _truth(field: str, value: str) -> Condition:
    if value not in {"true", "false"}:
        raise QueryRefused(f"Value for {field} must be true or false, not {value}.")
    tests: dict[str, Condition] = {
        "is_retracted": lambda entry: entry.notice is not None and entry.notice.kind == "retracted",
        "has_abstract": abstract_known,
        "has_doi": lambda entry: bool(doi_of(entry)),
        "is_oa": lambda entry: entry.free_pdf or bool(entry.arxiv),
    }
    test = tests[field.removeprefix("open_access.")]
    return lambda entry: test(entry) is (value == "true")


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise QueryRefused(f"Value for param from_publication_date is invalid: {text}.") from None


def _stem(word: str) -> str:
    """Crudely: OpenAlex uses KStem."""
    return re.escape(word.removesuffix("ies").removesuffix("es").removesuffix("s") if len(word) > 4 else word)


def _together(text: str) -> Condition:
    """The words one after the other."""
    pattern = re.compile(r"\b" + r"\w*\W+".join(_stem(word) for word in words(text)), re.IGNORECASE)
    return lambda entry: pattern.search(f"{entry.record.title} {entry.record.abstract}") is not None


class _Expression:
    """Words without an operator between them are joined by AND."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = [(match[1], match[2], match[3]) for match in _TOKEN.finditer(query)]
        self._next = 0

    def read(self) -> Condition:
        whole = self._any()
        if self._next < len(self._tokens):
            raise QueryRefused(f"Failed to parse query [{self._query}]")
        return whole

    def _peek(self) -> tuple[str | None, str | None, str | None]:
        return self._tokens[self._next] if self._next < len(self._tokens) else (None, None, None)

    def _any(self) -> Condition:
        parts = [self._all()]
        while self._peek()[2] == "OR":
            self._next += 1
            parts.append(self._all())
        return lambda entry: any(part(entry) for part in parts)

    def _all(self) -> Condition:
        parts = list[Condition]()
        while self._peek() != (None, None, None) and self._peek()[1] != ")" and self._peek()[2] != "OR":
            if self._peek()[2] == "AND":
                self._next += 1
                continue
            parts.append(self._one())
        return lambda entry: all(part(entry) for part in parts)

    def _one(self) -> Condition:
        quoted, bracket, word = self._peek()
        self._next += 1
        if word == "NOT":
            denied = self._one()
            return lambda entry: not denied(entry)
        if bracket == "(":
            inside = self._any()
            if self._peek()[1] != ")":
                raise QueryRefused(f"Failed to parse query [{self._query}]")
            self._next += 1
            return inside
        return _together(word or quoted or "")
