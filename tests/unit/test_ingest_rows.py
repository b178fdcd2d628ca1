"""Lines of others' data sets become rows, and whatever they hold instead becomes a reason."""

import datetime as dt
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.literature.openalex_fields import rebuild_abstract
from index.ingest.openalex_snapshot import build_work_row, read_merged_ids
from index.ingest.record_rows import RecordRow, SectionRow, build_jsonl_row
from index.ingest.semantic_scholar_rows import (
    PAPERS,
    build_citation_row,
    build_embedding_row,
    build_paper_row,
    extract_sections,
    make_s2_paper_id,
)
from index.ingest.source_files import SourceKind
from index.ingest.source_formats import SOURCE_FORMATS

S2_FIELDS = ("corpusid", "externalids", "citationcount", "s2fieldsofstudy", "publicationdate", "content", "body")
OPENALEX_FIELDS = ("abstract_inverted_index", "ids", "referenced_works", "authorships", "topics", "locations", "doi")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from([*SOURCE_FORMATS["openalex"].schema.names, *S2_FIELDS, *OPENALEX_FIELDS])

S2_PAPER = {
    "corpusid": 19730001,
    "externalids": {
        "DOI": "10.7748/NS.4.4.26",
        "ArXiv": None,
        "PubMed": "27223548",
        "PubMedCentral": "99",
    },
    "url": "https://www.semanticscholar.org/paper/7cf79fbdfa2160c3e8e16b4c3a13cdd56e148031",
    "title": "Identifying patients",
    "authors": [{"authorId": "1", "name": "P. Lowthian"}, {"authorId": None, "name": None}],
    "venue": "Nursing Standard",
    "year": 1989,
    "citationcount": 20,
    "s2fieldsofstudy": [{"category": "Medicine", "source": "a"}, {"category": "Medicine", "source": "b"}],
    "publicationdate": None,
}


@given(kind=st.sampled_from([name for name in SOURCE_FORMATS if name != "arxiv"]), data=st.dictionaries(FIELDS, JSON))
def test_any_json_line_yields_a_row_or_a_reason(kind: SourceKind, data: dict[str, Any]) -> None:
    row = SOURCE_FORMATS[kind].convert_row(data)
    assert isinstance(row, str) or len(row) == len(SOURCE_FORMATS[kind].schema) - 3


def test_paper_row_keeps_all_identifiers() -> None:
    row = build_paper_row(S2_PAPER)
    assert not isinstance(row, str)
    key, _, authors, *_, identifiers, fields = row
    assert make_s2_paper_id(key) == "CorpusId:19730001"
    assert (identifiers.doi, identifiers.pubmed, identifiers.pmc) == ("10.7748/ns.4.4.26", "27223548", "PMC99")
    assert identifiers.s2 == "7cf79fbdfa2160c3e8e16b4c3a13cdd56e148031"
    assert (authors, fields) == (["P. Lowthian"], ["Medicine"])


def test_paper_with_only_a_year_is_dated_on_its_last_day() -> None:
    assert build_paper_row(S2_PAPER)[PAPERS.names.index("publication_date")] == dt.date(1989, 12, 31)


@pytest.mark.parametrize("number", [None, "", "x", -1, 1.5, True, 2**70])
def test_paper_with_invalid_corpus_id_is_rejected(number: object) -> None:
    assert build_paper_row(S2_PAPER | {"corpusid": number}) == "corpusid is missing"


def test_citation_with_only_its_id_is_kept_for_deletions() -> None:
    assert build_citation_row({"citationid": 5}) == (None, 5, None)
    assert build_citation_row({"citingcorpusid": 1, "citedcorpusid": 2}) == (1, None, 2)
    assert isinstance(build_citation_row({"citingcorpusid": 1}), str)


@pytest.mark.parametrize("vector", ["[1, 0.5]", [1, 0.5]])
def test_vector_is_read_from_text_or_list(vector: object) -> None:
    np.testing.assert_array_equal(
        build_embedding_row({"corpusid": 1, "vector": vector})[1], np.array([1, 0.5], np.float32)
    )


@pytest.mark.parametrize("vector", ["[1, NaN]", "[]", "[[1]]", "[1", "x", {"a": 1}, ["a"], [10**400], [1e300]])
def test_invalid_vector_is_rejected(vector: object) -> None:
    assert isinstance(build_embedding_row({"corpusid": 1, "vector": vector}), str)


def make_full_text(layout: str, heading: str, as_text: bool) -> dict[str, Any]:
    text = "Before.\nMethod\nFirst part.\nSecond part.\nEnd\n"
    spans = {heading: [(8, 14), (40, 43)], "paragraph": [(0, 7), (15, 26), (27, 39), (900, 950), (5, 5)]}
    lists = {name: [{"start": start, "end": end} for start, end in pairs] for name, pairs in spans.items()}
    annotations = {name: json.dumps(pairs) if as_text else pairs for name, pairs in lists.items()}
    return {"corpusid": 1, layout: {"text": text, "annotations": annotations}}


@pytest.mark.parametrize(("layout", "heading"), [("content", "sectionheader"), ("body", "section_header")])
@pytest.mark.parametrize("as_text", [True, False])
def test_paragraphs_are_grouped_under_their_headings(layout: str, heading: str, as_text: bool) -> None:
    assert extract_sections(make_full_text(layout, heading, as_text)) == [
        SectionRow("", "Before."),
        SectionRow("Method", "First part.\n\nSecond part."),
    ]


@given(
    st.text(max_size=50),
    st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=8),
    st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=4),
)
def test_sections_contain_only_words_of_the_text(
    text: str, paragraphs: list[tuple[int, int]], headings: list[tuple[int, int]]
) -> None:
    spans = {"paragraph": paragraphs, "sectionheader": headings}
    annotations = {name: [{"start": start, "end": end} for start, end in pairs] for name, pairs in spans.items()}
    sections = extract_sections({"body": {"text": text, "annotations": annotations}})
    assert isinstance(sections, str) or all(part in text for item in sections for part in item.text.split("\n\n"))


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6), max_size=30))
def test_inverted_abstract_is_restored_in_word_order(words: list[str]) -> None:
    positions: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        positions.setdefault(word, []).append(place)
    assert rebuild_abstract(positions) == " ".join(words)


def test_work_row_contains_metadata_identifiers_and_references() -> None:
    row = build_work_row(
        {
            "id": "https://openalex.org/W42",
            "title": "A work",
            "abstract_inverted_index": {"words": [1], "Some": [0]},
            "publication_date": "2021-03-01",
            "is_retracted": True,
            "referenced_works": ["https://openalex.org/W1", "nonsense"],
            "locations": [{"landing_page_url": "http://arxiv.org/abs/2101.00001"}],
            "doi": "https://doi.org/10.1000/ABC",
        }
    )
    assert isinstance(row, RecordRow)
    assert (row.key, row.abstract, row.retracted, row.references) == (
        "openalex:W42", "Some words", True, ["openalex:W1"],
    )  # fmt: skip
    assert (row.identifiers.doi, row.identifiers.arxiv, row.identifiers.openalex) == (
        "10.1000/abc",
        "2101.00001",
        "W42",
    )
    assert row.publication_date == dt.date(2021, 3, 31)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, "id is missing"),
        ({"title": None}, "title is missing"),
        ({"abstract_inverted_index": None}, "abstract is missing"),
        ({"is_xpac": True}, "belongs to the expansion pack (is_xpac)"),
    ],
)
def test_unusable_work_is_rejected_with_its_reason(change: dict[str, Any], reason: str) -> None:
    work = {"id": "W1", "title": "T", "abstract_inverted_index": {"a": [0]}}
    assert isinstance(build_work_row(work), RecordRow)
    assert build_work_row(work | change) == reason


def test_merged_works_are_returned_by_their_former_ids() -> None:
    table = "merge_date,id,merge_into_id\n2024-01-01,W7,W8\n2024-01-01,,W9\n2024-01-01,https://openalex.org/W10,W8\n"
    assert list(read_merged_ids(table.splitlines())) == ["openalex:W7", "openalex:W10"]


def test_own_record_keeps_non_finite_vector_but_rejects_non_list_vector() -> None:
    row = build_jsonl_row({"id": "a", "title": "T", "abstract": "A", "vector": [1, float("nan")], "vector_model": "m"})
    assert isinstance(row, RecordRow)
    assert row.vector is not None
    assert (len(row.vector), row.vector_model) == (2, "m")
    assert (
        build_jsonl_row({"id": "a", "title": "T", "abstract": "A", "vector": "no"}) == "vector is not a list of numbers"
    )
