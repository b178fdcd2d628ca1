"""Convert other services' records to our format, by the field names that are common in their exports."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from assayer.literature.paper_identity import find_doi
from assayer.text.markup import strip_markup

_WRAPPERS = ("metadata", "attributes", "info", "data", "bib")
_TITLE = ("title", "titles", "mainTitle", "display_name", "title_s", "rel_title", "Article Title")
_ABSTRACT = (
    "abstract", "abstracts", "abstractText", "abstractNote", "abstract_s", "rel_abs", "descriptions", "description",
)  # fmt: skip
_AUTHORS = (
    "authors", "author", "creators", "creator", "authorString", "authFullName_s", "z_authors", "rel_authors",
)  # fmt: skip
_DATE = (
    "publication_date", "publicationDate", "firstPublicationDate", "date", "pubdate", "publish_time", "rel_date",
    "year", "pubYear", "publicationYear", "pub_year", "year_published", "yearPublished",
)  # fmt: skip
_IDS = (
    "id", "pmid", "uid", "lens_id", "bibcode", "cord_uid", "paper_id", "docid", "ID", "key", "@id", "Publication ID",
    "EID", "doi", "rel_doi",
    "paper_url", "identifier",
)  # fmt: skip
_WHOLE_NAME = ("name", "full_name", "fullName", "display_name", "creator", "author", "literal", "text", "author_name")
_GIVEN, _FAMILY = ("given", "first", "first_name", "firstName"), ("family", "last", "last_name", "lastName")
_INVERTED = re.compile(r"(?P<family>[^,;]+), (?P<given>[^,;]+)")
_DATE_FORM = re.compile(r"\d{4}(?:-(?!00)\d{2}){0,2}")


def convert_generic_record(data: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record from a service for which there is no dedicated converter. Fields missing from the record are
    omitted."""
    inner = next((part for name in _WRAPPERS if isinstance(part := data.get(name), dict)), {})
    fields = {_normalise(str(name)): value for name, value in {**inner, **data}.items()}
    name = find_doi(next(_find_texts(fields, ("doi", "rel_doi")), ""))
    date = next((match[0] for text in _find_texts(fields, _DATE) if (match := _DATE_FORM.match(text))), None)
    values = {
        "id": next((re.sub(r"\s+", "_", text) for text in _find_texts(fields, _IDS)), None),
        "title": next(_find_texts(fields, _TITLE), None),
        "abstract": strip_markup(next(_find_texts(fields, _ABSTRACT), "")) or None,
        "authors": next(
            (names for field in _AUTHORS if (names := list(_split_names(fields.get(_normalise(field)))))), []
        ),
        "publication_date": date,
        "identifiers": {"doi": name, "arxiv": next(_find_texts(fields, ("arxiv_id",)), "")},
    }
    return {field: value for field, value in values.items() if value is not None}


@lru_cache(1_024)
def _normalise(name: str) -> str:
    """Reduce a field name to its letters and digits in lower case, so that `Publication ID` equals `publication_id`."""
    return re.sub(r"[\W_]", "", name).casefold()


def _find_texts(fields: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts in the fields with these names, in the order of the names. Of a list, only the first is used."""
    for name in names:
        value = fields.get(_normalise(name))
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict):
            first = next((text for text in first.values() if isinstance(text, str)), "")
        if isinstance(first, str | int) and str(first).strip():
            yield str(first).strip()


def _split_names(value: Any) -> Iterator[str]:
    """Yield the names in a list of texts or objects, or in a text that separates them by semicolons, ` and ` or
    commas."""
    if isinstance(value, dict):
        value = next((part for part in value.values() if isinstance(part, list)), [])
    if isinstance(value, str):
        value = re.split(r";\s*| and |(?<! and), (?=[^,]*,|[^,]*$)", value) if ";" not in value else value.split(";")
    for author in value if isinstance(value, list) else ():
        name = _find_name(author) if isinstance(author, dict) else author if isinstance(author, str) else ""
        inverted_match = _INVERTED.fullmatch(name.strip())
        if name.strip():
            yield f"{inverted_match['given']} {inverted_match['family']}" if inverted_match else name.strip(" .")


def _find_name(author: Mapping[str, Any]) -> str:
    parts = {_normalise(str(name)): value for name, value in author.items()}
    full_name = next(_find_texts(parts, _WHOLE_NAME), "")
    return full_name or " ".join(text for names in (_GIVEN, _FAMILY) if (text := next(_find_texts(parts, names), "")))
