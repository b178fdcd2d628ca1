import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.literature.openalex_fields import parse_work_id, rebuild_abstract
from assayer.models import Identifiers, Retraction, Window
from tests.unit.canned_remote import ASK, CannedRemote, make_response
from workers.literature_apis.openalex import OpenAlex, OpenAlexWork, parse_paper


def make_work(number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a record with as few fields as allowed."""
    return {"id": f"https://openalex.org/W{number}", "display_name": f"Paper {number}"} | fields


def make_work_list(*records: dict[str, Any], count: int | None = None) -> dict[str, Any]:
    return {"meta": {"count": len(records) if count is None else count}, "results": list(records)}


def make_inverted_index(words: list[str]) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        index.setdefault(word, []).append(place)
    return index


@given(st.lists(st.text(min_size=1, max_size=8)))
def test_inverted_abstract_is_restored_in_order(words: list[str]) -> None:
    assert rebuild_abstract(make_inverted_index(words)) == " ".join(words)


def test_inverted_abstract_tolerates_gaps_and_huge_positions() -> None:
    assert rebuild_abstract({"last": [10**15], "first": [-3], "twice": [7, 5]}) == "first twice twice last"


def test_openalex_record_is_converted_with_all_identifiers() -> None:
    record = make_work(
        2741809807,
        doi="https://doi.org/10.7717/PeerJ.4375",
        ids={
            "openalex": "https://openalex.org/W2741809807",
            "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894",
            "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/5815332",
        },
        display_name=" The state\nof <b>OA</b>\u200b ",
        publication_date="2018-02-13",
        authorships=[
            {"author": {"display_name": "Heather Piwowar"}, "raw_author_name": "H. Piwowar"},
            {"author": None, "raw_author_name": "Jason Priem"},
            "nobody",
        ],
        primary_location={
            "is_oa": True,
            "landing_page_url": "https://doi.org/10.7717/peerj.4375",
            "pdf_url": None,
            "source": {"display_name": "PeerJ"},
        },
        best_oa_location={"is_oa": True, "landing_page_url": None, "pdf_url": "https://peerj.com/articles/4375.pdf"},
        locations=[
            {"is_oa": False, "landing_page_url": "https://closed.org/x", "pdf_url": "https://closed.org/x.pdf"},
            {
                "is_oa": True,
                "landing_page_url": "http://arxiv.org/abs/1802.00001v2",
                "pdf_url": "http://arxiv.org/pdf/1802.00001",
            },
            {
                "is_oa": True,
                "landing_page_url": "https://aclanthology.org/P18-1001",
                "pdf_url": "https://peerj.com/articles/4375.pdf",
            },
        ],
        abstract_inverted_index={"access": [1, 3], "Open": [0], "means": [2]},
        cited_by_count=900,
        is_retracted=True,
    )
    paper = parse_paper(OpenAlexWork.model_validate(record))
    assert paper is not None
    assert paper.model_dump(exclude={"origins"}) == {
        "id": "openalex:W2741809807",
        "title": "The state of OA",
        "abstract": "Open access means access",
        "authors": ("Heather Piwowar", "Jason Priem"),
        "publication_date": dt.date(2018, 2, 13),
        "venue": "PeerJ",
        "url": "https://doi.org/10.7717/peerj.4375",
        "citation_count": 900,
        "source": "openalex",
        "identifiers": {
            "doi": "10.7717/peerj.4375",
            "arxiv": "1802.00001",
            "s2": "",
            "openalex": "W2741809807",
            "pubmed": "29456894",
            "pmc": "PMC5815332",
            "acl": "P18-1001",
            "openreview": "",
        },
        "retraction": {"kind": "retracted", "source": "openalex", "notice": "", "date": None},
        "pdf_urls": ("https://peerj.com/articles/4375.pdf", "http://arxiv.org/pdf/1802.00001"),
        "versions": None,
        "other_records": (),
    }


@pytest.mark.parametrize(
    ("date_text", "expected_day"),
    [
        ("2019-03-02", dt.date(2019, 3, 2)),
        ("2019-03-01", dt.date(2019, 3, 31)),
        ("2019-01-01", dt.date(2019, 12, 31)),
        ("2019", dt.date(2019, 12, 31)),
        ("", None),
    ],
)
def test_first_day_of_period_is_read_as_whole_period(date_text: str, expected_day: dt.date | None) -> None:
    paper = parse_paper(OpenAlexWork.model_validate(make_work(publication_date=date_text)))
    assert paper is not None
    assert paper.publication_date == expected_day


@pytest.mark.parametrize("text", ["W1/../authors", "A123", "https://evil.org/W1", "w1 or 1=1", ""])
def test_invalid_work_id_is_rejected(text: str) -> None:
    assert parse_work_id(text) == ""


async def test_single_paper_is_fetched_directly_and_several_use_list_filter() -> None:
    remote = CannedRemote(
        {
            "works/W1": make_response(make_work(1)),
            "works": make_response(
                make_work_list(
                    make_work(2, doi="https://doi.org/10.1000/two"), make_work(3, doi="https://doi.org/10.1000/three")
                )
            ),
        }
    )
    papers = [
        Identifiers(doi="10.1000/two"),
        Identifiers(openalex="W1"),
        Identifiers(),
        Identifiers(doi="10.1000/three"),
        Identifiers(doi="10.1000/unknown"),
    ]
    resolved_papers = await OpenAlex(remote).resolve(papers, ASK)
    assert [paper.title if paper else None for paper in resolved_papers] == [
        "Paper 2",
        "Paper 1",
        None,
        "Paper 3",
        None,
    ]
    assert len(remote.calls) == 2


async def test_doi_with_separators_is_fetched_separately() -> None:
    remote = CannedRemote({"works/doi:10.1002%2F%28a%2Cb%7Cc%29": make_response(make_work(7))})
    resolved_papers = await OpenAlex(remote).resolve(
        [Identifiers(doi="10.1002/(a,b|c)"), Identifiers(doi="10.1000/x")], ASK
    )
    assert [paper.title if paper else None for paper in resolved_papers] == ["Paper 7", None]
    assert not any("|" in value for call in remote.calls for _, value in call.params)


async def test_ids_exceeding_filter_limit_are_split_into_several_requests() -> None:
    records = {number: make_work(number) for number in range(1, 251)}
    remote = CannedRemote({"works": make_response(make_work_list(*records.values()))})
    resolved_papers = await OpenAlex(remote).resolve([Identifiers(openalex=f"W{number}") for number in records], ASK)
    assert all(resolved_papers)
    filters = [dict(call.params)["filter"] for call in remote.calls]
    assert [len(item.split("|")) for item in filters] == [100, 100, 50]


async def test_references_keep_record_order_and_skip_unknown_works() -> None:
    cited = [f"https://openalex.org/W{number}" for number in (9, 4, 6)]
    remote = CannedRemote(
        {
            "works/W1": make_response(make_work(1, referenced_works=cited)),
            "works": make_response(make_work_list(make_work(4), make_work(9))),
        }
    )
    papers = await OpenAlex(remote).references(Identifiers(openalex="W1"), 10, ASK)
    assert [paper.id for paper in papers] == ["openalex:W9", "openalex:W4"]


async def test_citing_papers_are_requested_newest_first_within_date_window() -> None:
    record_list = make_work_list(
        make_work(8, publication_date="2020-05-05"), make_work(9, publication_date="2021-05-05")
    )
    remote = CannedRemote({"works/doi:10.1000%2Fone": make_response(make_work(1)), "works": make_response(record_list)})
    papers = await OpenAlex(remote).citing(Identifiers(doi="10.1000/one"), 5, Window(before=dt.date(2020, 6, 30)), ASK)
    assert [paper.id for paper in papers] == ["openalex:W8"]
    parameters = dict(remote.calls[-1].params)
    assert parameters["filter"] == "cites:W1,to_publication_date:2020-06-30"
    assert parameters["sort"] == "publication_date:desc"


async def test_a_search_pages_until_the_list_ends_and_skips_unreadable_records() -> None:
    page = make_work_list(*(make_work(number) for number in range(1, 100)), {"id": 5}, count=130)
    remote = CannedRemote({"works": make_response(page)})
    papers = await OpenAlex(remote).search("graphs", 1000, Window(), ASK)
    assert len(papers) == 99
    assert [dict(call.params)["page"] for call in remote.calls] == ["1", "2"]


async def test_query_without_words_sends_no_request() -> None:
    remote = CannedRemote()
    assert await OpenAlex(remote).search("?!", 5, Window(), ASK) == []
    assert remote.calls == []


async def test_only_retracted_papers_are_returned_as_retractions() -> None:
    openalex_records = make_work_list(
        make_work(1, is_retracted=True), make_work(2, is_retracted=False), make_work(3, is_retracted="yes")
    )
    papers = [Identifiers(openalex=f"W{number}") for number in (1, 2, 3)]
    retractions = await OpenAlex(CannedRemote({"works": make_response(openalex_records)})).retractions(papers, ASK)
    assert retractions == {papers[0]: Retraction(kind="retracted", source="openalex")}
