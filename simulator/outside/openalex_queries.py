"""Semantics of OpenAlex's `search` and `filter`."""

import datetime as dt
import re
from collections.abc import Callable, Sequence

from simulator.outside.library import Entry, Library
from simulator.outside.lookup import split_words
from simulator.outside.openalex_works import find_entry

Condition = Callable[[Entry], bool]

_MAX_VALUES = 100
_FIELDS = """
    openalex doi pmid cites from_publication_date to_publication_date
"""


class QueryRefused(Exception):
    """Raised if a query is refused, with OpenAlex's wording."""


def combine_searches(query: str) -> Condition:
    """Return the condition of a search: all words, stemmed and without stop words, must occur in the title or abstract.
    The only supported operator is OR. Raises QueryRefused."""
    for sign in ("!", "|"):
        if any(word.startswith("!") for word in query.split()) if sign == "!" else sign in query:
            raise QueryRefused(f"The search parameter does not support the {sign} operator. Problem value: {query}")
    if "*" in query or "?" in query:
        raise QueryRefused(
            "Wildcards (* or ?) require exact (no-stem) search. The default search is stemmed, so the literal text "
            "before the wildcard is removed when the work is indexed and the search returns wrong results. Use the "
            f"search.exact= parameter instead (or the default.search.exact filter), e.g. search.exact={query}."
        )
    alternatives = [[_build_stem_pattern(word) for word in split_words(part)] for part in query.split(" OR ")]

    def matches(entry: Entry) -> bool:
        text = f"{entry.record.title} {entry.record.abstract}"
        return any(all(stem.search(text) for stem in stems) for stems in alternatives)

    return matches


def parse_conditions(library: Library, text: str) -> list[Condition]:
    """Return the conditions of a filter: conditions are separated by commas, values by bars, `!` negates them."""
    parsed_conditions = list[Condition]()
    for part in text.split(",") if text else ():
        field, colon, value = part.partition(":")
        if not colon:
            raise QueryRefused(f"Invalid query parameter in {part}.")
        if field not in _FIELDS.split():
            valid = ", ".join(_FIELDS.split())
            raise QueryRefused(
                f"{field} is not a valid field. Valid fields are underscore or hyphenated versions of: {valid}"
            )
        parsed_conditions.append(_build_condition(library, field, value))
    return parsed_conditions


def _build_condition(library: Library, field: str, value: str) -> Condition:
    values = value.removeprefix("!").split("|")
    if len(values) > _MAX_VALUES:
        raise QueryRefused(
            f"Maximum number of values exceeded for {field}. Decrease values to {_MAX_VALUES} or below, or consider "
            "downloading the full dataset at https://docs.openalex.org/download-snapshot"
        )
    if any(condition_value.startswith("!") for condition_value in values):
        raise QueryRefused(
            "The ! operator can only be used at the beginning of an OR query, like /works?filter=concepts.id:"
            "!C144133560|C15744967, meaning NOT (C144133560 or C15744967). Problem value: " + value
        )
    matches = _build_matcher(library, field, values)
    return (lambda entry: not matches(entry)) if value.startswith("!") else matches


def _build_matcher(library: Library, field: str, values: Sequence[str]) -> Condition:
    match field:
        case "openalex" | "doi" | "pmid" as kind:
            numbers = {entry.number for value in values if (entry := find_entry(library, kind, value))}
            return lambda entry: entry.number in numbers
        case "cites":
            cited_entries = [entry for value in values if (entry := find_entry(library, "openalex", value))]
            citing_numbers = {
                entry.number for cited_entry in cited_entries for entry in library.list_citations(cited_entry)
            }
            return lambda entry: entry.number in citing_numbers
        case "from_publication_date":
            first = _parse_day(values[0])
            return lambda entry: (entry.known_day or dt.date.min) >= first
        case _:
            last = _parse_day(values[0])
            return lambda entry: (entry.known_day or dt.date.max) <= last


def _parse_day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise QueryRefused(f"Value for param from_publication_date is invalid: {text}.") from None


def _build_stem_pattern(word: str) -> re.Pattern[str]:
    """Return a pattern for words with the same stem, a rough approximation of OpenAlex's KStem."""
    stem = word.removesuffix("ies").removesuffix("es").removesuffix("s") if len(word) > 4 else word
    return re.compile(r"\b" + re.escape(stem), re.IGNORECASE)
