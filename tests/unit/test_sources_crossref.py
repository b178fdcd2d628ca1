import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from assayer.models import Identifiers, Retraction, Window
from tests.unit.canned_remote import ASK, CannedRemote, make_response
from workers.literature_apis.crossref import Crossref, CrossrefWork, parse_paper, parse_retraction
from workers.literature_apis.unpaywall import Unpaywall


def record(name: str = "10.1000/one", **fields: Any) -> dict[str, Any]:
    return {"DOI": name, "title": [f"Paper {name}"]} | {key.replace("_", "-"): value for key, value in fields.items()}


def make_item_list(*records: Any) -> dict[str, Any]:
    return {"status": "ok", "message-type": "work-list", "message": {"total-results": 9, "items": list(records)}}


def make_update(kind: str, doi: str = "10.1000/notice", day: list[int | None] | None = None) -> dict[str, Any]:
    return {
        "DOI": doi,
        "type": kind,
        "label": kind.title(),
        "source": "publisher",
        "updated": {"date-parts": [day or []]},
    }


def test_crossref_record_is_converted_to_paper() -> None:
    crossref_record = record(
        "10.1000/ABC.[1]",
        URL="https://doi.org/10.1000/abc.[1]",
        title=["Graphs &amp; <i>trees</i>"],
        subtitle=["a survey"],
        abstract="<jats:title>Abstract</jats:title><jats:p>We survey [P3].</jats:p>",
        author=[{"given": "Ada", "family": "Brandt"}, {"family": "Chen"}, {"name": "The Group"}, {"given": None}, 7],
        published={"date-parts": [[2020, 2]]},
        issued={"date-parts": [[2021]]},
        container_title=["Journal of Trees"],
        is_referenced_by_count=12,
        relation={"has-preprint": [{"id-type": "doi", "id": "10.48550/arXiv.1911.00001", "asserted-by": "subject"}]},
    )
    paper = parse_paper(CrossrefWork.model_validate(crossref_record))
    assert paper is not None
    assert paper.model_dump(include={"id", "title", "abstract", "authors", "publication_date", "venue", "url"}) == {
        "id": "doi:10.1000/abc.%5B1%5D",
        "title": "Graphs & trees: a survey",
        "abstract": "We survey (P3).",
        "authors": ("Ada Brandt", "Chen", "The Group"),
        "publication_date": dt.date(2020, 2, 29),
        "venue": "Journal of Trees",
        "url": "https://doi.org/10.1000/abc.[1]",
    }
    assert (paper.identifiers.arxiv, paper.citation_count) == ("1911.00001", 12)


@pytest.mark.parametrize(
    ("parts", "day"),
    [
        ([[2020, 2, 3]], dt.date(2020, 2, 3)),
        ([[2020]], dt.date(2020, 12, 31)),
        ([[None]], None),
        ([[]], None),
        ([], None),
    ],
)
def test_partial_date_uses_end_of_period_and_invalid_date_is_missing(
    parts: list[list[int | None]], day: dt.date | None
) -> None:
    paper = parse_paper(CrossrefWork.model_validate(record(issued={"date-parts": parts})))
    assert paper is not None
    assert paper.publication_date == day


@pytest.mark.parametrize(
    ("notices", "kind"),
    [
        ([make_update("retraction")], "retracted"),
        ([make_update("Expression-of-Concern")], "concern"),
        ([make_update("partial_retraction")], "concern"),
        ([make_update("withdrawal")], "withdrawn"),
        ([make_update("removal")], "withdrawn"),
        ([make_update("correction"), make_update("expression_of_concern"), make_update("retraction")], "retracted"),
        ([make_update("correction"), make_update("erratum"), make_update("new_version"), {"type": None}, 3], None),
        ([make_update("retraction", day=[2019]), make_update("reinstatement", day=[2020])], None),
        ([make_update("reinstatement", day=[2018]), make_update("retraction", day=[2019])], "retracted"),
        ([], None),
    ],
)
def test_most_severe_active_notice_determines_retraction_status(notices: list[Any], kind: str | None) -> None:
    retraction = parse_retraction(CrossrefWork.model_validate(record(updated_by=notices)))
    assert (retraction.kind if retraction else None) == kind


def test_earliest_of_two_retraction_notices_is_used() -> None:
    notices = [
        make_update("retraction", "10.1000/late", [2020, 5, 1]),
        make_update("retraction", "10.1000/EARLY", [2019, 7, 26]),
    ]
    assert parse_retraction(CrossrefWork.model_validate(record(updated_by=notices))) == Retraction(
        kind="retracted", source="crossref", notice="10.1000/early", date=dt.date(2019, 7, 26)
    )


def test_update_notice_counts_only_when_it_targets_the_work_itself() -> None:
    own_update, other_update = make_update("retraction", "10.1000/ONE"), make_update("retraction", "10.1000/other")
    assert parse_retraction(CrossrefWork.model_validate(record("10.1000/one", update_to=[own_update]))) is not None
    assert parse_retraction(CrossrefWork.model_validate(record("10.1000/one", update_to=[other_update]))) is None


async def test_dois_are_batched_and_arxiv_dois_are_not_requested() -> None:
    remote = CannedRemote({"works": make_response(make_item_list(record("10.1000/TWO"), record("10.1000/one")))})
    papers = [
        Identifiers(doi="10.1000/one"),
        Identifiers(doi="10.48550/arxiv.2101.00001"),
        Identifiers(doi="10.1000/two"),
        Identifiers(arxiv="2101.00002"),
        Identifiers(doi="10.1000/gone"),
    ]
    resolved_papers = await Crossref(remote).resolve(papers, ASK)
    assert [paper.id if paper else None for paper in resolved_papers] == [
        "doi:10.1000/one",
        None,
        "doi:10.1000/two",
        None,
        None,
    ]
    assert len(remote.calls) == 1


async def test_doi_with_comma_is_requested_separately() -> None:
    remote = CannedRemote({"works/10.1000%2Fa%2Cb": make_response({"message": record("10.1000/a,b")})})
    (paper,) = await Crossref(remote).resolve([Identifiers(doi="10.1000/a,b")], ASK)
    assert paper is not None


async def test_records_and_retractions_use_identical_requests() -> None:
    remote = CannedRemote(
        {"works": make_response(make_item_list(record("10.1000/one", updated_by=[make_update("retraction")])))}
    )
    papers = [Identifiers(doi="10.1000/one"), Identifiers(doi="10.1000/two")]
    await Crossref(remote).resolve(papers, ASK)
    assert set(await Crossref(remote).retractions(papers, ASK)) == {papers[0]}
    records, notices = remote.calls
    assert (records.operation, notices.operation) == ("papers", "retractions")
    assert replace(records, operation="retractions") == notices


async def test_a_search_asks_for_papers_inside_the_window_only() -> None:
    remote = CannedRemote(
        {"works": make_response(make_item_list(record(issued={"date-parts": [[2020, 3]]}), record("10.1000/x")))}
    )
    window = Window(after=dt.date(2020, 1, 1), before=dt.date(2020, 12, 31))
    papers = await Crossref(remote).search('graphs, "trees"', 5, window, ASK)
    parameters = dict(remote.calls[0].params)
    assert [paper.id for paper in papers] == ["doi:10.1000/one"]
    assert parameters["query.bibliographic"] == "graphs trees"
    assert parameters["filter"].endswith("from-pub-date:2020-01-01,until-pub-date:2020-12-31")


async def test_open_access_pdfs_are_listed_best_first_as_web_urls() -> None:
    places = [
        {"url_for_pdf": None, "url": "https://a.org/page"},
        {"url_for_pdf": "file:///etc/passwd"},
        {"url_for_pdf": "https://b.org/2.pdf"},
        {"url_for_pdf": "https://best.org/1.pdf"},
    ]
    body = {"doi": "10.1000/one", "best_oa_location": {"url_for_pdf": "https://best.org/1.pdf"}, "oa_locations": places}
    remote = CannedRemote({"10.1000%2Fone": make_response(body)})
    urls = await Unpaywall(remote).pdf_urls(Identifiers(doi="10.1000/one"), ASK)
    assert urls == ("https://best.org/1.pdf", "https://b.org/2.pdf")


@pytest.mark.parametrize("paper", [Identifiers(), Identifiers(arxiv="2101.00001"), Identifiers(doi="10.48550/arxiv.1")])
async def test_unpaywall_is_not_called_without_publisher_doi(paper: Identifiers) -> None:
    remote = CannedRemote()
    assert await Unpaywall(remote).pdf_urls(paper, ASK) == ()
    assert remote.calls == []
