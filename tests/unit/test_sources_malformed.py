"""Any answer of a source gives papers or raises SourceMalformed."""

import json
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from assayer.errors import SourceMalformed
from assayer.models import Identifiers, Window
from tests.unit.canned_remote import ASK, CannedRemote, make_response
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.openalex import OpenAlex
from workers.literature_apis.unpaywall import Unpaywall

Question = Callable[[CannedRemote], Awaitable[object]]

_KNOWN_PAPER = Identifiers(doi="10.1000/one", openalex="W1")
_SEVERAL_PAPERS = [_KNOWN_PAPER, Identifiers(doi="10.1000/two"), Identifiers(openalex="W3"), Identifiers(pubmed="4")]

QUESTIONS: dict[str, Question] = {
    "OpenAlex: search": lambda remote: OpenAlex(remote).search("graphs", 150, Window(), ASK),
    "OpenAlex: one record": lambda remote: OpenAlex(remote).resolve([_KNOWN_PAPER], ASK),
    "OpenAlex: several records": lambda remote: OpenAlex(remote).resolve(_SEVERAL_PAPERS, ASK),
    "OpenAlex: references": lambda remote: OpenAlex(remote).references(_KNOWN_PAPER, 10, ASK),
    "OpenAlex: citing papers": lambda remote: OpenAlex(remote).citing(_KNOWN_PAPER, 10, Window(), ASK),
    "OpenAlex: free copies": lambda remote: OpenAlex(remote).pdf_urls(_KNOWN_PAPER, ASK),
    "OpenAlex: retractions": lambda remote: OpenAlex(remote).retractions(_SEVERAL_PAPERS, ASK),
    "Crossref: search": lambda remote: Crossref(remote).search("graphs", 20, Window(), ASK),
    "Crossref: one record": lambda remote: Crossref(remote).resolve([_KNOWN_PAPER], ASK),
    "Crossref: several records": lambda remote: Crossref(remote).resolve(_SEVERAL_PAPERS, ASK),
    "Crossref: retractions": lambda remote: Crossref(remote).retractions(_SEVERAL_PAPERS, ASK),
    "Unpaywall: free copies": lambda remote: Unpaywall(remote).pdf_urls(_KNOWN_PAPER, ASK),
}

_FIELDS = """
    id doi DOI ids pmid pmcid display_name publication_date authorships author raw_author_name primary_location
    best_oa_location locations landing_page_url pdf_url source abstract_inverted_index cited_by_count is_retracted
    is_oa referenced_works URL title subtitle abstract given family name published issued date-parts container-title
    is-referenced-by-count relation has-preprint updated-by update-to type updated url_for_pdf oa_locations
"""

_texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["W1", "https://openalex.org/W3", "10.1000/one", "10.1000/two", "2021-02-30", "9999-13", "2020"]),
    st.sampled_from(["http://[", "https://arxiv.org/abs/2101.00001", "https://x:99999999/a.pdf", "retraction"]),
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(_FIELDS.split()), inner, max_size=8)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=25,
)
_records = st.dictionaries(st.sampled_from(_FIELDS.split()), _values, max_size=12)
_named_records = st.builds(
    lambda record, name: record | {"id": name, "DOI": name, "doi": name, "title": ["T"], "display_name": "T"},
    _records,
    st.sampled_from(["https://openalex.org/W1", "https://doi.org/10.1000/one", "10.1000/TWO", "W99", "10.1/\u200b"]),
)
_frames = st.one_of(
    _values,
    _named_records,
    st.lists(_values | _named_records, max_size=5).map(lambda records: {"meta": {"count": 300}, "results": records}),
    st.lists(_values | _named_records, max_size=5).map(lambda records: {"message": {"items": records}}),
    _named_records.map(lambda record: {"message": record}),
)


async def ask_all_sources(body: bytes) -> dict[str, SourceMalformed | None]:
    """Return for each question the error if its source refused to read the body, or None."""
    error_by_question = dict[str, SourceMalformed | None]()
    for name, question in QUESTIONS.items():
        error_by_question[name] = None
        try:
            await question(CannedRemote(default=make_response(body)))
        except SourceMalformed as error:
            error_by_question[name] = error
    return error_by_question


@given(frame=_frames)
async def test_any_json_gives_an_answer_or_source_malformed(frame: object) -> None:
    refusals = [error for error in (await ask_all_sources(json.dumps(frame).encode())).values() if error]
    assert all(error.message and error.hint for error in refusals)


@given(body=st.binary(max_size=40))
async def test_non_json_bytes_are_reported_as_malformed(body: bytes) -> None:
    assert all((await ask_all_sources(b"<" + body)).values())


async def test_deeply_nested_answer_is_reported_as_malformed() -> None:
    assert all((await ask_all_sources(b'{"results":' + b"[" * 100_000)).values())


def count_failures(source: str, cause: str) -> float:
    return REGISTRY.get_sample_value("assayer_source_parse_failures_total", {"source": source, "cause": cause}) or 0.0


async def test_unreadable_answers_and_records_are_counted_by_source_and_cause() -> None:
    answers, parts = count_failures("openalex", "answer"), count_failures("openalex", "record")
    openalex_records = [{"id": "W1", "display_name": "Kept"}, {"id": 7}, "nothing", {"id": "W2", "locations": [3]}]
    papers = await OpenAlex(CannedRemote(default=make_response({"results": openalex_records}))).search(
        "graphs", 9, Window(), ASK
    )
    assert [paper.title for paper in papers] == ["Kept"]
    assert count_failures("openalex", "record") == parts + 3
    with pytest.raises(SourceMalformed):
        await OpenAlex(CannedRemote(default=make_response([]))).search("graphs", 9, Window(), ASK)
    assert count_failures("openalex", "answer") == answers + 2  # asked again
