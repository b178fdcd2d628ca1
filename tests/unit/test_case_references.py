"""Reference lists rebuilt from public reports, beside the clone: which entries a corpus has, and what differs."""

import json

import pytest

from assayer.models import Paper, Retraction
from assayer.own_references.entries import read_references
from index.ingest.openalex_snapshot import build_work_row
from index.ingest.record_rows import RecordRow, build_jsonl_row
from index.records.export_records import parse_record
from index.records.paper_record import PaperRecord
from tests.unit.case_files import CASES, NEEDS_CASES, read
from tests.unit.own_references_fixture import check_references, list_outcomes

pytestmark = NEEDS_CASES


def convert_to_paper(record: PaperRecord) -> Paper:
    fields = {name: getattr(record, name) for name in ("id", "title", "abstract", "authors", "publication_date")}
    retraction = Retraction(kind="retracted", source="corpus") if record.retracted else None
    return Paper(**fields, source="corpus", identifiers=record.identifiers, retraction=retraction)


def read_papers(file: str) -> list[Paper]:
    lines = (CASES / file).read_text("utf-8").splitlines()
    return [convert_to_paper(parse_record(json.loads(line))) for line in lines]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("documents/anchored-references.md", ["found"] * 3),
        ("documents/bold-lines-as-headings.docx", ["found"] * 3),
        ("documents/chinese-numbered.md", ["found", "retracted", "found"]),
        ("documents/chinese.txt", ["found", "not_found", "found"]),
        ("documents/latex.txt", ["found"] * 3),
        ("pdf/footnotes.pdf", ["found"] * 4),
        ("pdf/hanging-author-year.pdf", ["found"] * 3),
        ("pdf/line-numbers.pdf", ["found"] * 4),
        ("refs/01-sici-doi.md", ["found", "found", "retracted", "found", "found"]),
        ("refs/02-hyphen-and-linebreaks.md", ["found"] * 4),
        ("refs/03-same-title.md", ["found"] * 4 + ["differs"]),
        ("refs/04-three-em-dash.md", ["found"] * 3),
        ("refs/06-doi-of-another.md", ["differs", "differs", "found"]),
        ("refs/07-appendix-after-references.md", ["found"] * 3),
        # The authors of the third entry are invented.
        ("refs/08-bibtex-block.md", ["found", "found", "differs", "found"]),
        ("refs/11-non-ascii-first-letters.txt", ["found", "found", "not_found", "found"]),
    ],
)
async def test_entries_of_a_list_are_found_in_the_corpus(name: str, expected: list[str]) -> None:
    references = await check_references(await read(name), local_papers=read_papers("refs/corpus.jsonl"))
    assert list_outcomes(references) == expected
    assert [entry.differences for entry in references.entries if entry.outcome == "found"] == [()] * expected.count(
        "found"
    )


async def test_titles_of_an_openalex_snapshot_lose_their_markup_and_are_found() -> None:
    lines = (CASES / "ingest/oa/data/jsonl/works/part/part_000.jsonl").read_text("utf-8").splitlines()
    rows = [
        row for line in lines if line.endswith("}") and isinstance(row := build_work_row(json.loads(line)), RecordRow)
    ]
    fields = ("title", "abstract", "authors")
    records = [
        PaperRecord.model_validate(
            {"id": row.key, "year": row.publication_date and row.publication_date.year}
            | {name: getattr(row, name) for name in fields}
        )
        for row in rows
    ]
    assert not [record.title for record in records if set("<>") & set(record.title) or "&amp;" in record.title]
    references = await check_references(
        await read("ingest/openalex-titles.md"), local_papers=[convert_to_paper(record) for record in records]
    )
    assert list_outcomes(references) == ["found", "found", "found", "retracted", "found"]


async def test_identifiers_in_running_text_are_read_completely() -> None:
    entries = read_references(await read("refs/10-body-identifiers.md")).entries
    assert {work.doi or work.arxiv for work in entries} == {
        "10.1002/(sici)1096-9999(19960129)365:1<113::aid-xne9>3.0.co;2-6",
        "math/0309199",
        "hep-th/9711299",
    }


@pytest.mark.parametrize(
    ("name", "title", "author"),
    [
        ("kaggle-arxiv", "Calculation of prompt diphoton scores at agencies", "C. Balázs"),
        ("s2-api", "Scores of plans from an API", "Ada Verne"),
        ("crossref", "Scores of plans from Crossref", "Ada Verne"),
    ],
)
def test_records_of_exports_are_read(name: str, title: str, author: str) -> None:
    (record,) = read_papers(f"ingest/{name}.jsonl")
    assert (record.title, record.authors[0]) == (title, author)
    assert record.publication_date is not None


def test_withdrawn_record_of_an_export_is_retracted() -> None:
    (record,) = read_papers("ingest/kaggle-arxiv.jsonl")
    assert record.retraction is not None


def test_record_without_an_abstract_names_its_export() -> None:
    row = build_jsonl_row(json.loads((CASES / "ingest/s2-api-no-abstract.jsonl").read_text("utf-8")))
    assert row == "abstract is missing (this looks like a paper from Semantic Scholar's API)"
