"""Locations of a paper's copies, and their order."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assayer.models import Identifiers, Paper, PaperId, PreprintVersions, Window
from workers.full_texts import GrobidSettings, HostSettings
from workers.full_texts.pdf_locations import PdfLocation, list_additional_pdf_locations, list_known_pdf_locations

HOSTS = HostSettings(
    arxiv="http://127.0.0.1/arxiv",
    acl="http://127.0.0.1/acl/",
    pmc="http://127.0.0.1/pmc",
    openreview="http://[::1]/or",
)


def make_paper(identifiers: Identifiers | None = None, url: str = "", pdf_urls: tuple[str, ...] = ()) -> Paper:
    return Paper(
        id=PaperId("p"), title="Birdsong", abstract="", source="x", identifiers=identifiers or Identifiers(), url=url,
        pdf_urls=pdf_urls,
    )  # fmt: skip


def list_urls(item: Paper) -> list[str]:
    return [candidate.url for candidate in list_known_pdf_locations(item, HOSTS)]


def test_paper_identifiers_give_repository_pdf_urls_in_preferred_order() -> None:
    identifiers = Identifiers(
        arxiv="2401.01234", acl="2020.acl-main.1", pmc="PMC7", openreview="abc_-1", doi="10.1000/x"
    )
    assert list_known_pdf_locations(make_paper(identifiers), HOSTS) == (
        PdfLocation("acl_files", "http://127.0.0.1/acl/2020.acl-main.1.pdf"),
        PdfLocation("arxiv_files", "http://127.0.0.1/arxiv/2401.01234"),
        PdfLocation("openreview_files", "http://[::1]/or?id=abc_-1"),
        PdfLocation("pmc_files", "http://127.0.0.1/pmc/PMC7/pdf/"),
    )


@pytest.mark.parametrize(
    ("url", "pdf_url"),
    [
        ("https://arxiv.org/abs/2401.01234v3", "http://127.0.0.1/arxiv/2401.01234"),
        ("https://doi.org/10.48550/arXiv.2401.01234", "http://127.0.0.1/arxiv/2401.01234"),
        ("https://aclanthology.org/P18-1001/", "http://127.0.0.1/acl/P18-1001.pdf"),
        ("https://openreview.net/forum?id=abc", "http://[::1]/or?id=abc"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/", "http://127.0.0.1/pmc/PMC123/pdf/"),
    ],
)
def test_repository_landing_page_url_is_resolved_to_its_pdf(url: str, pdf_url: str) -> None:
    assert list_urls(make_paper(url=url)) == [pdf_url]
    assert list_urls(make_paper(pdf_urls=(url,))) == [pdf_url]


def test_pdf_urls_are_tried_before_pages_and_doi_resolvers() -> None:
    paper = make_paper(
        Identifiers(arxiv="2401.01234"),
        pdf_urls=("https://doi.org/10.1000/x", "https://a.example/view", "https://a.example/get.PDF?x=1"),
    )
    assert list_urls(paper) == [
        "http://127.0.0.1/arxiv/2401.01234",
        "https://a.example/get.PDF?x=1",
        "https://a.example/view",
        "https://doi.org/10.1000/x",
    ]


def test_paper_page_is_not_a_candidate_unless_listed_as_pdf() -> None:
    assert list_urls(make_paper(url="https://a.example/paper")) == []


def test_equivalent_pdf_urls_are_tried_once() -> None:
    equivalent_urls = ("https://www.a.example/x.pdf", "http://a.example/x.pdf#page=2", "https://A.example/x.pdf/")
    assert list_urls(make_paper(pdf_urls=equivalent_urls)) == [equivalent_urls[0]]


def test_additional_pdf_locations_exclude_urls_already_tried() -> None:
    paper = make_paper(Identifiers(arxiv="2401.01234"), pdf_urls=("https://a.example/x.pdf",))
    tried_locations = list_known_pdf_locations(paper, HOSTS)
    locations = list_additional_pdf_locations(
        ("https://arxiv.org/pdf/2401.01234", "https://b.example/y.pdf"), tried_locations, HOSTS
    )
    assert locations == (PdfLocation("open_access_files", "https://b.example/y.pdf"),)


@pytest.mark.parametrize("address", ["127.0.0.1:8070", "ftp://a.example", "http://me:secret@a.example"])
def test_invalid_grobid_url_is_rejected(address: str) -> None:
    with pytest.raises(ValidationError):
        GrobidSettings.model_validate({"urls": f"http://127.0.0.1:8070/,{address}"})
    assert GrobidSettings.model_validate({"urls": "http://a/, http://b"}).urls == ("http://a", "http://b")


@given(st.lists(st.text(max_size=60) | st.sampled_from(["http://[", "ftp://a/x.pdf", "javascript:alert(1)", "//a/b"])))
def test_non_http_text_is_never_a_pdf_candidate(texts: list[str]) -> None:
    for candidate in list_known_pdf_locations(make_paper(url="".join(texts)[:50], pdf_urls=tuple(texts)), HOSTS):
        assert candidate.url.strip().casefold().startswith(("http://", "https://"))


DAY = dt.date(2024, 1, 31)
WINDOW = Window.until(DAY)
NEXT_DAY = DAY + dt.timedelta(days=1)


def make_versions(first: dt.date, newest: int, newest_day: dt.date) -> PreprintVersions:
    return PreprintVersions(first=first, newest=newest, newest_day=newest_day)


@pytest.mark.parametrize(
    ("arxiv", "versions", "copy"),
    [
        ("2401.01234", None, "v1"),  # the month in its id is over by then
        ("2402.01234", None, None),
        ("2401.01234", make_versions(dt.date(2024, 1, 2), 3, DAY), "v3"),
        ("2401.01234", make_versions(dt.date(2024, 1, 2), 3, NEXT_DAY), "v1"),
        ("2401.01234", make_versions(dt.date(2024, 1, 2), 1, dt.date(2024, 1, 2)), "v1"),
        ("2402.01234", make_versions(NEXT_DAY, 2, NEXT_DAY), None),
        ("cs/0112017", None, "v1"),
        ("cs/2413001", None, None),
    ],
)
def test_preprint_version_available_by_cutoff_is_chosen(
    arxiv: str, versions: PreprintVersions | None, copy: str | None
) -> None:
    paper = make_paper(Identifiers(arxiv=arxiv)).model_copy(update={"versions": versions})
    urls = [candidate.url for candidate in list_known_pdf_locations(paper, HOSTS, WINDOW)]
    assert urls == ([f"http://127.0.0.1/arxiv/{arxiv}{copy}"] if copy else [])
    assert list_urls(paper) == [f"http://127.0.0.1/arxiv/{arxiv}"]


def test_only_immutable_copies_are_used_before_a_cutoff() -> None:
    paper = make_paper(
        Identifiers(acl="2020.acl-main.1", pmc="PMC7", openreview="abc"),
        pdf_urls=("https://home.example/paper.pdf", "https://proceedings.mlr.press/v1/x.pdf"),
    )
    assert [candidate.url for candidate in list_known_pdf_locations(paper, HOSTS, WINDOW)] == [
        "http://127.0.0.1/acl/2020.acl-main.1.pdf",
        "http://127.0.0.1/pmc/PMC7/pdf/",
        "https://proceedings.mlr.press/v1/x.pdf",
    ]
    located = ("https://arxiv.org/pdf/2312.00001v7", "https://home.example/2.pdf", "https://evilmlr.press/x.pdf")
    additional = list_additional_pdf_locations(located, (), HOSTS, WINDOW)
    assert [candidate.url for candidate in additional] == ["http://127.0.0.1/arxiv/2312.00001v1"]


def test_newest_copy_is_used_for_windows_after_a_date() -> None:
    paper = make_paper(Identifiers(arxiv="2402.01234", openreview="abc"))
    assert list_known_pdf_locations(paper, HOSTS, Window.later_than(DAY)) == list_known_pdf_locations(paper, HOSTS)
