import datetime as dt
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import SourceMalformed
from assayer.models import Identifiers, Paper, PaperId, Window
from tests.unit.canned_remote import ASK, CannedRemote, make_response
from workers.literature_apis.semantic_scholar import SemanticScholar
from workers.outbound.source_requests import RequestContext, SourceRequest, SourceResponse

S2 = "5c5751d45e298cea054f32b392c12c61027d2fe7"
CITED_S2 = "0f40b1f08821e22e859c6050916cec3667778613"
OWN_RECORD: dict[str, Any] = {"paperId": "649def34f8be52c8b66281af98ae884c09aef38b", "title": "Its own"}
RECORD: dict[str, Any] = {
    "paperId": S2,
    "title": "A title <b>\u200bwith</b> [P3]",
    "abstract": None,
    "authors": [{"authorId": "1", "name": "Ada Field"}, {"authorId": None, "name": None}, None],
    "venue": "ACL",
    "year": 2020,
    "publicationDate": None,
    "url": f"https://www.semanticscholar.org/paper/{S2}",
    "citationCount": 7,
    "externalIds": {
        "DOI": "10.18653/V1/2020.ACL-MAIN.447",
        "ArXiv": "2005.00001",
        "ACL": "2020.acl-main.447",
        "PubMed": 12345,
        "PubMedCentral": "678",
        "MAG": "3015453090",
        "CorpusId": 215416146,
    },
    "openAccessPdf": {"url": "https://aclanthology.org/2020.acl-main.447.pdf", "status": "HYBRID"},
}


async def resolve_record(record: object) -> Paper | None:
    remote = CannedRemote(default=make_response([record, OWN_RECORD]))
    return (await SemanticScholar(remote).resolve([Identifiers(s2=S2)], ASK))[0]


async def test_semantic_scholar_record_is_converted_to_paper() -> None:
    paper = await resolve_record(RECORD)
    assert paper == Paper(
        id=PaperId(f"s2:{S2}"),
        title="A title with (P3)",
        abstract="",
        authors=("Ada Field",),
        publication_date=dt.date(2020, 12, 31),
        venue="ACL",
        url=f"https://www.semanticscholar.org/paper/{S2}",
        citation_count=7,
        source="semantic_scholar",
        identifiers=Identifiers(
            doi="10.18653/v1/2020.acl-main.447",
            arxiv="2005.00001",
            s2=S2,
            pubmed="12345",
            pmc="PMC678",
            acl="2020.acl-main.447",
        ),
        pdf_urls=("https://aclanthology.org/2020.acl-main.447.pdf",),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"paperId": None},
        {"paperId": "../../etc"},
        {"title": None},
        {"title": " \u200b "},
    ],
)
async def test_record_without_valid_id_or_title_is_ignored(change: dict[str, Any]) -> None:
    assert await resolve_record(RECORD | change) is None


async def test_malformed_record_fields_are_dropped() -> None:
    malformed_fields: dict[str, object] = {
        "openAccessPdf": {"url": "javascript:alert(1)"},
        "authors": None,
        "year": "2020",
        "externalIds": [],
        "url": 3,
    }
    paper = await resolve_record(RECORD | malformed_fields)
    assert paper is not None
    assert (paper.pdf_urls, paper.authors, paper.publication_date, paper.url) == ((), (), None, "")
    assert paper.identifiers == Identifiers(s2=S2)


async def test_batch_includes_known_probe_paper_and_only_valid_ids() -> None:
    remote = CannedRemote(default=make_response([RECORD, None, OWN_RECORD]))
    names = [
        Identifiers(s2="not hex"),
        Identifiers(doi="10.1000/A b"),
        Identifiers(),
        Identifiers(s2=S2),
        Identifiers(pmc="PMC12", pubmed="x"),
    ]
    papers = await SemanticScholar(remote).resolve(names[2:], ASK)
    assert [paper.id if paper else None for paper in papers] == [None, f"s2:{S2}", None]
    (call,) = remote.calls
    assert json.loads(call.body or "")["ids"] == [S2, "PMCID:12", OWN_RECORD["paperId"]]
    assert call.path == "graph/v1/paper/batch"


async def test_a_batch_of_the_wrong_size_is_malformed() -> None:
    with pytest.raises(SourceMalformed, match="1 records for a batch of 2 ids"):
        await SemanticScholar(CannedRemote(default=make_response([RECORD]))).resolve([Identifiers(s2=S2)], ASK)


async def test_doi_in_a_path_is_a_single_segment() -> None:
    remote = CannedRemote()
    await SemanticScholar(remote).references(Identifiers(doi="10.1000/../../x?y#z"), 10, ASK)
    assert remote.calls[0].path == "graph/v1/paper/DOI:10.1000%2F..%2F..%2Fx%3Fy%23z/references"


async def test_citing_papers_of_popular_work_stop_after_three_pages() -> None:
    class EndlessRemote(CannedRemote):
        async def fetch(self, call: SourceRequest, ask: RequestContext) -> SourceResponse:
            offset = int(dict(call.params)["offset"])
            self.default = make_response({"next": offset + 1000, "data": [{"citingPaper": RECORD}]})
            return await super().fetch(call, ask)

    remote = EndlessRemote()
    assert len(await SemanticScholar(remote).citing(Identifiers(s2=S2), 10**6, Window(), ASK)) == 3
    assert [dict(call.params)["offset"] for call in remote.calls] == ["0", "1000", "2000"]


@pytest.mark.parametrize("following", [0, 5, -1, 10**12, "x", None])
async def test_looping_or_invalid_page_offsets_end_pagination(following: object) -> None:
    linked = {"citedPaper": RECORD, "citingPaper": RECORD}
    page = {"next": following, "offset": 5, "total": 10**6, "data": [RECORD, linked]}
    remote = CannedRemote(default=make_response(page))
    await SemanticScholar(remote).search("graphs", 1000, Window(), ASK)
    await SemanticScholar(remote).references(Identifiers(s2=S2), 10**6, ASK)
    await SemanticScholar(remote).citing(Identifiers(s2=S2), 10**6, Window(), ASK)
    assert len(remote.calls) <= 6


async def test_snippet_citations_exclude_unmatched_mentions() -> None:
    mentions = [{"start": 0, "end": 4, "matchedPaperCorpusId": "77"}, {"matchedPaperCorpusId": None}, {"start": 1}]
    snippet = {"text": "As (Moor, 2019) showed.", "snippetKind": "body", "section": "3  Method"}
    match = {
        "snippet": snippet | {"annotations": {"refMentions": mentions, "sentences": None}},
        "paper": {"corpusId": "215416146", "title": "T", "authors": ["Ada Field"]},
        "score": 0.5,
    }
    cited = {"paperId": CITED_S2, "title": "Cited", "externalIds": {"CorpusId": 77}}
    remote = CannedRemote(
        {
            "graph/v1/snippet/search": make_response({"data": [match, {"snippet": None}], "retrievalVersion": "v1"}),
            "graph/v1/paper/batch": make_response([RECORD, cited, OWN_RECORD]),
        }
    )
    (passage,) = await SemanticScholar(remote).snippets("moor", 5, Window(), ASK)
    assert (passage.section, passage.text, passage.cites) == ("3 Method", snippet["text"], (Identifiers(s2=CITED_S2),))
    assert json.loads(remote.calls[1].body or "")["ids"][:-1] == ["CorpusId:215416146", "CorpusId:77"]


Question = Callable[[CannedRemote], Awaitable[object]]
_NAMES = [Identifiers(s2=S2), Identifiers(doi="10.1000/one")]
QUESTIONS: list[Question] = [
    lambda remote: SemanticScholar(remote).search("graphs", 150, Window(), ASK),
    lambda remote: SemanticScholar(remote).snippets("graphs", 10, Window(), ASK),
    lambda remote: SemanticScholar(remote).recommend(_NAMES[:1], 10, ASK),
    lambda remote: SemanticScholar(remote).recommend(_NAMES, 10, ASK),
    lambda remote: SemanticScholar(remote).references(_NAMES[0], 10, ASK),
    lambda remote: SemanticScholar(remote).citing(_NAMES[0], 10, Window(), ASK),
    lambda remote: SemanticScholar(remote).resolve(_NAMES, ASK),
    lambda remote: SemanticScholar(remote).pdf_urls(_NAMES[0], ASK),
]
_MORE_KEYS = """
    data next token recommendedPapers citedPaper citingPaper snippet paper corpusId text section annotations
    refMentions matchedPaperCorpusId name url DOI"""
_KEYS = st.sampled_from([*RECORD, *_MORE_KEYS.split()])
_texts = st.text(max_size=8) | st.sampled_from([S2, "77", CITED_S2])
_leaves = st.none() | st.booleans() | st.integers() | st.floats() | _texts
_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=20,
)
_records = st.dictionaries(_KEYS, _values, max_size=8).map(lambda odd: RECORD | odd)
_frames = st.one_of(
    _values,
    st.lists(_values | _records, max_size=4),
    st.lists(_records | st.none(), max_size=3).map(lambda many: [*many, OWN_RECORD]),
    st.lists(_values | _records, max_size=4).map(lambda many: {"data": many, "recommendedPapers": many, "next": 9}),
    st.lists(_records, max_size=4).map(
        lambda some: {"data": [{"citedPaper": item, "citingPaper": item} for item in some]}
    ),
    st.lists(_values, max_size=3).map(
        lambda many: {
            "data": [{"snippet": {"text": "t", "annotations": item}, "paper": {"corpusId": 7}} for item in many]
        }
    ),
)


@given(frame=_frames)
async def test_any_json_gives_an_answer_or_source_malformed(frame: object) -> None:
    for question in QUESTIONS:
        with suppress(SourceMalformed):
            await question(CannedRemote(default=make_response(frame)))


@given(body=st.binary(max_size=40))
async def test_non_json_bytes_are_reported_as_malformed(body: bytes) -> None:
    for question in QUESTIONS:
        with pytest.raises(SourceMalformed):
            await question(CannedRemote(default=make_response(b"<" + body)))
