"""Readers of reference lists and of the names and titles in them, and of the TeX around them."""

from collections.abc import Callable

from assayer.own_references import names
from assayer.reference_lists import (
    bibliography_files,
    bibtex,
    entry_fields,
    entry_names,
    entry_shape,
    identifiers,
    list_removal,
    list_tables,
    note_entries,
    tagged_records,
)
from workers.sandbox import apacite, tex_acronyms, tex_groups, tex_units

_ENTRY_CHARACTERS = 4_000
"""Length to which the parser cuts an entry before reading it."""
_FIELDS_CHARACTERS = 1_500
"""Length of an entry above which its fields are not read."""

REFERENCE_READERS: dict[str, Callable[[str], object]] = {
    "assayer.own_references.names.are_comparable": lambda text: names.are_comparable("Lee, A.", text),
    "assayer.reference_lists.bibliography_files.read_bibliography": lambda text: bibliography_files.read_bibliography(
        text, "a test"
    ),
    "assayer.reference_lists.bibtex.amsrefs_as_bibtex": lambda text: bibtex.amsrefs_as_bibtex(
        f"\\bib{{lee}}{{article}}{{title={{{text[:_ENTRY_CHARACTERS]}}}}}"
    ),
    "assayer.reference_lists.bibtex.read_bibtex, a key": lambda text: bibtex.read_bibtex(f"@book{{{text}"),
    "assayer.reference_lists.bibtex.read_bibtex, a field": lambda text: bibtex.read_bibtex(
        f"@article{{lee, title = {{{text}}}, year = 2019}}"
    ),
    "assayer.reference_lists.entry_fields.fields_of": lambda text: entry_fields.fields_of(text[:_FIELDS_CHARACTERS]),
    "assayer.reference_lists.entry_names.authors_in": lambda text: entry_names.authors_in(text[:_FIELDS_CHARACTERS]),
    "assayer.reference_lists.entry_shape.year_of": lambda text: entry_shape.year_of(text[:_ENTRY_CHARACTERS]),
    "assayer.reference_lists.identifiers.rejoin_identifiers": lambda text: identifiers.rejoin_identifiers(
        text[:_ENTRY_CHARACTERS]
    ),
    "assayer.reference_lists.list_tables.convert_table_rows": lambda text: list_tables.convert_table_rows(
        ["| Author | Title |", "|---|---|", *(f"| {line} | {line} |" for line in text.split("\n"))]
    ),
    "assayer.reference_lists.note_entries.parse_note_entries": lambda text: list(
        note_entries.parse_note_entries("1", (text[:_ENTRY_CHARACTERS],))
    ),
    "assayer.reference_lists.list_removal.cut_spans": lambda text: list_removal.cut_spans(
        text, [(place, place + 5) for place in range(0, len(text), 10)]
    ),
    "assayer.reference_lists.tagged_records.medline_records": lambda text: list(
        tagged_records.medline_records(f"PMID- 1\nTI  - {text}")
    ),
    "assayer.reference_lists.tagged_records.web_of_science_records": lambda text: list(
        tagged_records.web_of_science_records(f"PT J\nTI {text}\nER")
    ),
    "workers.sandbox.apacite.format_apacite": lambda text: apacite.format_apacite(
        "APACjournalVolNumPages", text.split("\n")
    ),
    "workers.sandbox.tex_acronyms.expand_acronyms": lambda text: tex_acronyms.expand_acronyms(
        text, {"a": tex_acronyms.Acronym("A", "all")}
    ),
    "workers.sandbox.tex_acronyms.take_acronyms": lambda text: tex_acronyms.take_acronyms(text, {}, are_printed=True),
    "workers.sandbox.tex_groups.find_group_end": lambda text: tex_groups.find_group_end(f"{{{text}}}", 0),
    "workers.sandbox.tex_groups.read_groups": lambda text: tex_groups.read_groups(f"{{{text}", 0, 3),
    "workers.sandbox.tex_groups.read_option": lambda text: tex_groups.read_option(f"[{text}]", 0),
    "workers.sandbox.tex_groups.skip_spaces": lambda text: tex_groups.skip_spaces(text, 0),
    "workers.sandbox.tex_units.expand_units": lambda text: tex_units.expand_units(text, {}),
}
