"""References written as BibTeX and RIS, and read back with the libraries."""

import datetime as dt

import rispy
from bibtexparser.entrypoint import parse_string

from assayer.models import OwnReference, OwnReferences, PaperId, ReferenceRecord
from assayer.reference_lists.bibliography_files import read_bibliography
from assayer.reports.bibliographies import as_bibtex, as_ris, corrected_entries
from assayer_client.reports import Retraction
from tests.unit.reports_fixture import full_report


def _own_references() -> OwnReferences:
    record = ReferenceRecord(
        id=PaperId("p:1"),
        title="Sparse & dense codes: 50% of_all sets",
        authors=("Jane van der Roe", "Søren Østby", "NOVEX Collaboration"),
        publication_date=dt.date(2021, 3, 1),
        venue="Proceedings of Inventions",
        url="https://doi.org/10.1234/sparse_codes",
        source="crossref",
    )
    entries = (
        OwnReference(
            number=1,
            text="Row, J. Sparse codes. 2020.",
            outcome="differs",
            record=record,
            differences=("The year is 2021.",),
            retraction=Retraction(kind="retracted", source="crossref"),
        ),
        OwnReference(number=2, text="Poe, T.\nA work that never was. 2019.", outcome="not_found"),
        OwnReference(number=3, text="The same again.", outcome="found", record=record),
    )
    return OwnReferences(read_by="text", entries=entries)


def test_corrected_entries_are_read_back_from_both_formats() -> None:
    works = corrected_entries(full_report().model_copy(update={"own_references": _own_references()}))
    for text in (as_bibtex(works), as_ris(works)):
        first, second, third = read_bibliography(text, "list").entries
        assert first.work.title == "Sparse & dense codes: 50% of_all sets"
        assert first.work.authors == ("Jane van der Roe", "Søren Østby", "NOVEX Collaboration")
        assert (first.work.year, first.work.doi, first.venue) == (
            2021,
            "10.1234/sparse_codes",
            "Proceedings of Inventions",
        )
        assert second.work.title == "Poe, T. A work that never was. 2019"
        assert len({first.key, second.key, third.key}) == 3


def test_notes_tell_what_was_corrected() -> None:
    works = corrected_entries(full_report().model_copy(update={"own_references": _own_references()}))
    bibtex = parse_string(as_bibtex(works)).entries
    ris = rispy.loads(as_ris(works))
    assert [entry.fields_dict["note"].value for entry in bibtex if "note" in entry.fields_dict] == [
        "Notice about this work: retracted. The year is 2021.",
        "As written in the proposal; no record was found.",
    ]
    assert [entry.get("notes") for entry in ris] == [
        ["Notice about this work: retracted. The year is 2021."],
        ["As written in the proposal; no record was found."],
        None,
    ]
