"""Records as others export them become paper records; where they cannot, the message names the export."""

import json
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import InputError
from index.ingest.record_rows import RecordRow, build_jsonl_row
from index.records.paper_record import PaperRecord
from index.records.record_sources import RecordReader

ABSTRACT = "We measure how plans of projects state their aims."
KAGGLE = {
    "id": "0704.0001",
    "submitter": "B. Quill",
    "authors": "C. Bal\\'azs, E. L. Berger",
    "title": "Calculation of prompt\n  diphoton scores",
    "comments": "37 pages; withdrawn",
    "journal-ref": "Phys. Rev. 2007",
    "doi": "10.1103/xrevd.76.013009",
    "categories": "hep-ph cs.DL",
    "abstract": f"  {ABSTRACT}\n",
    "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
    "update_date": "2008-11-26",
    "authors_parsed": [["Bal\u00e1zs", "C.", ""], ["Berger", "E. L.", "Jr"]],
}
API = {
    "paperId": "a" * 40,
    "externalIds": {"DOI": "10.9999/xx", "ArXiv": "2101.00001", "CorpusId": 9},
    "title": "Scores of <i>plans</i>",
    "abstract": ABSTRACT,
    "year": 2021,
    "publicationDate": None,
    "authors": [{"authorId": "1", "name": "Ada Verne"}],
    "venue": "",
    "citationCount": 3,
}
CROSSREF = {
    "DOI": "10.9999/YY",
    "title": ["Scores of plans"],
    "subtitle": ["A study"],
    "abstract": f"<jats:p>{ABSTRACT}</jats:p>",
    "author": [{"given": "Ada", "family": "Verne"}, {"name": "The Group"}],
    "issued": {"date-parts": [[2021, None]]},
    "container-title": ["J Inv &amp; Plans"],
}


def read_record(data: Any, folder: Path) -> PaperRecord:
    path = folder / "papers.jsonl"
    path.write_text(json.dumps(data) + "\n")
    (record,) = RecordReader([path])
    return record.record


def test_arxiv_snapshot_from_kaggle_is_read(tmp_path: Path) -> None:
    record = read_record(KAGGLE, tmp_path)
    assert (record.id, record.title, record.abstract) == (
        "arxiv:0704.0001",
        "Calculation of prompt diphoton scores",
        ABSTRACT,
    )
    assert record.authors == ("C. Balázs", "E. L. Berger Jr")
    assert str(record.publication_date) == "2007-04-02"
    assert record.fields == ("hep-ph", "cs.DL")
    assert record.retracted
    assert (record.identifiers.arxiv, record.identifiers.doi) == ("0704.0001", "10.1103/xrevd.76.013009")


def test_semantic_scholar_api_paper_is_read(tmp_path: Path) -> None:
    record = read_record(API, tmp_path)
    assert (record.id, record.title, record.authors) == ("CorpusId:9", "Scores of plans", ("Ada Verne",))
    assert str(record.publication_date) == "2021-12-31"
    assert (record.identifiers.s2, record.identifiers.arxiv) == ("a" * 40, "2101.00001")


def test_crossref_api_work_is_read(tmp_path: Path) -> None:
    record = read_record(CROSSREF, tmp_path)
    assert (record.id, record.title, record.abstract) == ("doi:10.9999/yy", "Scores of plans: A study", ABSTRACT)
    assert record.identifiers.doi == "10.9999/yy"
    assert record.authors == ("Ada Verne", "The Group")
    assert record.venue == "J Inv & Plans"
    assert str(record.publication_date) == "2021-12-31"


def test_ingest_reads_the_same_exports(tmp_path: Path) -> None:
    rows = [build_jsonl_row(data) for data in (KAGGLE, API, CROSSREF)]
    assert [row.key for row in rows if isinstance(row, RecordRow)] == [
        "arxiv:0704.0001",
        "CorpusId:9",
        "doi:10.9999/yy",
    ]


OTHER_SERVICES: dict[str, dict[str, Any]] = {
    "Europe PMC": {"id": "34", "source": "MED", "authorString": "Lee A, Chen B.", "abstractText": ABSTRACT}
    | {"title": "Plans", "pubYear": "2021", "firstPublicationDate": "2021-02-03"},
    "DataCite": {
        "id": "34",
        "attributes": {
            "titles": [{"title": "Plans"}],
            "creators": [{"name": "Lee, A"}, {"name": "Chen, B"}],
            "publicationYear": 2021,
            "descriptions": [{"description": ABSTRACT}],
        },
    },
    "ADS": {"bibcode": "34", "title": ["Plans"], "author": ["Lee, A", "Chen, B"], "abstract": ABSTRACT}
    | {"pubdate": "2021-02-00"},
    "Dimensions": {"id": "34", "title": "Plans", "abstract": ABSTRACT, "year": 2021}
    | {"authors": [{"first_name": "A", "last_name": "Lee"}, {"first_name": "B", "last_name": "Chen"}]},
    "CORD-19": {"cord_uid": "34", "title": "Plans", "abstract": ABSTRACT, "authors": "Lee, A; Chen, B"}
    | {"publish_time": "2021"},
    "HAL": {"docid": "34", "title_s": ["Plans"], "abstract_s": [ABSTRACT], "authFullName_s": ["A Lee", "B Chen"]},
}


@pytest.mark.parametrize("service", OTHER_SERVICES)
def test_record_of_another_service_is_read_by_the_usual_names_of_its_fields(service: str, tmp_path: Path) -> None:
    read = read_record(OTHER_SERVICES[service], tmp_path)
    assert (read.id, read.title, read.abstract) == ("34", "Plans", ABSTRACT)
    assert {tuple(sorted(name.replace(".", "").split())) for name in read.authors} == {("A", "Lee"), ("B", "Chen")}
    assert read.publication_date is None or read.publication_date.year == 2021


WITHOUT_ABSTRACT = {
    "Europe PMC": "a record from Europe PMC",
    "DataCite": "a record from DataCite's API",
    "ADS": "a record from NASA's ADS",
    "CORD-19": "a row from CORD-19's metadata",
    "HAL": "a record from HAL",
}


@pytest.mark.parametrize("service", WITHOUT_ABSTRACT)
def test_error_for_a_missing_abstract_names_the_service(service: str, tmp_path: Path) -> None:
    fields = {name: value for name, value in OTHER_SERVICES[service].items() if not name.startswith("abstract")}
    if service == "DataCite":
        fields["attributes"] = {**fields["attributes"], "descriptions": []}
    with pytest.raises(InputError) as caught:
        read_record(fields, tmp_path)
    assert f"abstract is missing (this looks like {WITHOUT_ABSTRACT[service]})" in str(caught.value)


def test_optional_fields_of_a_record_in_our_format_are_kept_without_authors(tmp_path: Path) -> None:
    read = read_record({"id": "a", "title": "T", "abstract": "A", "venue": "Plans", "year": 2020}, tmp_path)
    assert read.venue == "Plans"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({**API, "abstract": None}, "abstract is missing (this looks like a paper from Semantic Scholar's API)"),
        ({**KAGGLE, "title": ""}, "title is missing (this looks like arXiv's snapshot on Kaggle)"),
        (
            {"id": "https://openalex.org/W1", "title": "T", "abstract_inverted_index": {"We": [0]}},
            "corpus ingest openalex",
        ),
        ({"corpusid": 1, "title": "T", "externalids": None}, "corpus ingest s2"),
        ({"status": "ok", "message": {"items": []}}, "a complete response from Crossref's API"),
        ({"id": "a", "title": "T", "abstract": "A", "authors": "Ada"}, "authors is a string instead of a list"),
        ({"id": "a", "title": "T"}, "Line 1: abstract is missing."),
    ],
)
def test_unusable_record_error_names_the_likely_export_format(data: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_record(data, tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "row",
    [
        {"Publication ID": "pub.7", "DOI": "10.9999/YY", "PubYear": "2021", "Source title": "Rails"},
        {"EID": "pub.7", "DOI": "10.9999/YY", "Year": "2021", "Source title": "Rails", "Cited by": "4"},
    ],
)
def test_rows_of_dimensions_and_scopus_are_read_by_their_column_titles(row: dict[str, str], tmp_path: Path) -> None:
    text = {"Title": "Scores of plans", "Abstract": ABSTRACT, "Authors": "Verne, Ada; Quill, Bo"}
    record = read_record({**row, **text}, tmp_path)
    assert (record.id, record.title, record.authors) == ("pub.7", "Scores of plans", ("Ada Verne", "Bo Quill"))
    assert (record.identifiers.doi, str(record.publication_date)[:4]) == ("10.9999/yy", "2021")
