"""Readers of reference lists and of the names and titles in them."""

from collections.abc import Callable

from assayer.own_references import names
from assayer.reference_lists import (
    bibliography_files,
    bibtex,
    entry_fields,
    entry_names,
    entry_shape,
    identifiers,
    tagged_records,
)

_ENTRY = 4_000
"""Length to which the parser cuts an entry before reading it."""
_FIELDS = 1_500
"""Length of an entry above which its fields are not read."""

REFERENCE_READERS: dict[str, Callable[[str], object]] = {
    "assayer.own_references.names.are_comparable": lambda text: names.are_comparable("Lee, A.", text),
    "assayer.reference_lists.bibliography_files.read_bibliography": lambda text: bibliography_files.read_bibliography(
        text, "a test"
    ),
    "assayer.reference_lists.bibtex.amsrefs_as_bibtex": lambda text: bibtex.amsrefs_as_bibtex(
        f"\\bib{{lee}}{{article}}{{title={{{text[:_ENTRY]}}}}}"
    ),
    "assayer.reference_lists.bibtex.read_bibtex, a key": lambda text: bibtex.read_bibtex(f"@book{{{text}"),
    "assayer.reference_lists.bibtex.read_bibtex, a field": lambda text: bibtex.read_bibtex(
        f"@article{{lee, title = {{{text}}}, year = 2019}}"
    ),
    "assayer.reference_lists.entry_fields.fields_of": lambda text: entry_fields.fields_of(text[:_FIELDS]),
    "assayer.reference_lists.entry_names.authors_in": lambda text: entry_names.authors_in(text[:_FIELDS]),
    "assayer.reference_lists.entry_shape.year_of": lambda text: entry_shape.year_of(text[:_ENTRY]),
    "assayer.reference_lists.identifiers.rejoin_identifiers": lambda text: identifiers.rejoin_identifiers(
        text[:_ENTRY]
    ),
    "assayer.reference_lists.tagged_records.medline_records": lambda text: list(
        tagged_records.medline_records(f"PMID- 1\nTI  - {text}")
    ),
    "assayer.reference_lists.tagged_records.web_of_science_records": lambda text: list(
        tagged_records.web_of_science_records(f"PT J\nTI {text}\nER")
    ),
}
