"""References written as BibTeX and RIS, and read back."""

import datetime as dt

import pytest
import rispy

from assayer.models import OwnReference, OwnReferences, PaperId, ReferenceRecord
from assayer.reference_lists.bibliography_files import read_bibliography
from assayer.reference_lists.bibtex import read_bibtex
from assayer.reports.bibliographies import correct_entries, render_bibtex, render_ris
from assayer_client.reports import Retraction
from tests.unit.reports_fixture import make_full_report


def make_own_references() -> OwnReferences:
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
    return OwnReferences(parser="text", entries=entries)


def test_corrected_entries_are_read_back_from_both_formats() -> None:
    corrected_works = correct_entries(make_full_report().model_copy(update={"own_references": make_own_references()}))
    for text in (render_bibtex(corrected_works), render_ris(corrected_works)):
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


def test_notes_state_the_corrections() -> None:
    corrected_works = correct_entries(make_full_report().model_copy(update={"own_references": make_own_references()}))
    bibtex = read_bibtex(render_bibtex(corrected_works)).fields.values()
    ris = rispy.loads(render_ris(corrected_works))
    assert [entry["note"] for entry in bibtex if "note" in entry] == [
        "Notice about this work: retracted. The year is 2021.",
        "As written in the proposal; no record was found.",
    ]
    assert [entry.get("notes") for entry in ris] == [
        ["Notice about this work: retracted. The year is 2021."],
        ["As written in the proposal; no record was found."],
        None,
    ]


@pytest.mark.parametrize(
    ("entry", "fields"),
    [
        (
            '@STRING{tsp = "Trans. Sig. Proc."}\n@article{k, title="Wells" # " in {C}lay", journal=TSP}',
            {"title": "Wells in Clay", "journal": "Trans. Sig. Proc."},
        ),
        ("@ARTICLE\n{k,\n title={Wells}\n year=2020,}", {"title": "Wells", "year": "2020"}),
        ('@misc(k, title="Say \\"{u}ber {"}wells{"}", year = 1999)', {"title": 'Say über "wells"', "year": "1999"}),
        ("@misc{k, % a remark\n title={Wells}, month = 10~jan, Title={Other}}", {"title": "Wells", "month": "10 jan"}),
        (
            "@misc{k, title = Wells in clay, my field = {x}, year=}",
            {"title": "Wells in clay", "my field": "x", "year": ""},
        ),
        ("@misc{title={Wells}}", {"title": "Wells"}),
    ],
    ids=[
        "macro and concatenation",
        "missing comma",
        "parentheses and quotes",
        "remark and repeated field",
        "bare",
        "no key",
    ],
)
def test_bibtex_field_is_read_as_authors_write_it(entry: str, fields: dict[str, str]) -> None:
    read = read_bibtex(f"{entry}\n@misc{{next, title={{Next}}}}")
    first, second = read.fields.values()
    assert {name: value for name, value in first.items() if name != "entrytype"} == fields
    assert (second["title"], read.unparsed_entries) == ("Next", ())


@pytest.mark.parametrize(
    "entry", ["@misc{k, title={Wells}", "@misc{k, title={Wells, year=2020}", '@misc{k, title="Wells}']
)
def test_unclosed_bibtex_entry_is_reported_without_losing_other_entries(entry: str) -> None:
    read = read_bibtex(f"{entry}\n\n@misc{{next, title={{Next}}}}")
    assert (list(read.works), read.unparsed_entries) == (["next"], (entry,))
