"""Readers of reference lists and of the names and titles in them."""

from collections.abc import Callable

from assayer.literature import paper_identity
from assayer.own_references import names
from assayer.reference_lists import (
    bibliography_files,
    bibtex,
    citation_marks,
    entry_fields,
    entry_shape,
    entry_splitting,
    identifiers,
    list_finding,
    list_titles,
)

_ENTRY = 4_000
"""Characters of an entry at which the parser of entries cuts before it reads one."""
_FIELDS = 1_500
"""Characters of an entry above which its fields are not read."""

REFERENCE_READERS: dict[str, Callable[[str], object]] = {
    "assayer.literature.paper_identity.plain_title": paper_identity.plain_title,
    "assayer.own_references.names.are_comparable": lambda text: names.are_comparable("Lee, A.", text),
    "assayer.own_references.names.is_group": names.is_group,
    "assayer.reference_lists.bibliography_files.read_bibliography": lambda text: bibliography_files.read_bibliography(
        text, "a test"
    ),
    "assayer.reference_lists.bibtex.holds_bibtex": bibtex.holds_bibtex,
    "assayer.reference_lists.bibtex.names_in_bibtex": bibtex.names_in_bibtex,
    "assayer.reference_lists.bibtex.read_bibtex": bibtex.read_bibtex,
    "assayer.reference_lists.bibtex.read_bibtex, a field": lambda text: bibtex.read_bibtex(
        f"@article{{lee, title = {{{text}}}, year = 2019}}"
    ),
    "assayer.reference_lists.citation_marks.count_citation_marks": citation_marks.count_citation_marks,
    "assayer.reference_lists.entry_fields.authors_in": lambda text: entry_fields.authors_in(text[:_FIELDS]),
    "assayer.reference_lists.entry_fields.fields_of": lambda text: entry_fields.fields_of(text[:_FIELDS]),
    "assayer.reference_lists.entry_fields.year_of": lambda text: entry_fields.year_of(text[:_ENTRY]),
    "assayer.reference_lists.entry_shape.begins_entry": entry_shape.begins_entry,
    "assayer.reference_lists.entry_shape.begins_with_names": entry_shape.begins_with_names,
    "assayer.reference_lists.entry_shape.entry_number": entry_shape.entry_number,
    "assayer.reference_lists.entry_shape.is_dated": entry_shape.is_dated,
    "assayer.reference_lists.entry_shape.is_web_page": entry_shape.is_web_page,
    "assayer.reference_lists.entry_shape.reads_like_entry": entry_shape.reads_like_entry,
    "assayer.reference_lists.entry_shape.without_mark": entry_shape.without_mark,
    "assayer.reference_lists.entry_splitting.split_entries": entry_splitting.split_entries,
    "assayer.reference_lists.identifiers.arxiv_ids_in": lambda text: list(identifiers.arxiv_ids_in(text)),
    "assayer.reference_lists.identifiers.dois_in": lambda text: list(identifiers.dois_in(text)),
    "assayer.reference_lists.identifiers.mended_identifiers": lambda text: identifiers.mended_identifiers(
        text[:_ENTRY]
    ),
    "assayer.reference_lists.list_finding.find_lists": list_finding.find_lists,
    "assayer.reference_lists.list_titles.list_title": list_titles.list_title,
}
