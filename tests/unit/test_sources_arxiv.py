import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from assayer.errors import SourceError, SourceMalformed, SourceRefused
from assayer.models import Identifiers, Paper, PaperId, PreprintVersions, Window
from tests.unit.canned_remote import ASK, CannedRemote, make_response
from workers.literature_apis.arxiv import Arxiv, build_search_query, read_page

WINDOW = Window(after=dt.date(2020, 2, 1), before=dt.date(2021, 6, 30))
HEAD = (
    '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom" '
    'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">'
)


def make_feed(*entries: str, total: int | str = 1, head: str = HEAD) -> bytes:
    return f"{head}<opensearch:totalResults>{total}</opensearch:totalResults>{''.join(entries)}</feed>".encode()


def make_entry(**parts: str) -> str:
    """Return a valid entry with some elements replaced or added."""
    elements = {
        "id": "<id>http://arxiv.org/abs/2101.00001v3</id>",
        "title": "<title>On\n  wrapped\n  titles</title>",
        "summary": "<summary>  An abstract over\n two lines. </summary>",
        "published": "<published>2021-01-02T10:00:00Z</published>",
        "updated": "<updated>2021-03-04T10:00:00Z</updated>",
        "link": '<link href="https://arxiv.org/abs/2101.00001v3" rel="alternate" type="text/html"/>',
    } | parts
    return f"<entry>{''.join(elements.values())}</entry>"


def read_only_paper(*entries: str) -> Paper:
    (paper,) = read_page(make_feed(*entries), 0).papers
    return paper


def test_arxiv_entry_is_converted_without_version_or_line_breaks() -> None:
    paper = read_only_paper(
        make_entry(
            author="<author><name>Ada  Field</name></author><author><name/></author>",
            doi="<arxiv:doi>10.1000/ABC.7</arxiv:doi>",
            journal="<arxiv:journal_ref>J. Examples 7 (2021)</arxiv:journal_ref>",
            pdf='<link title="pdf" href="https://arxiv.org/pdf/2101.00001v3" rel="related"/>',
        )
    )
    assert paper == Paper(
        id=PaperId("arxiv:2101.00001"),
        title="On wrapped titles",
        abstract="An abstract over two lines.",
        authors=("Ada Field",),
        publication_date=dt.date(2021, 1, 2),
        venue="J. Examples 7 (2021)",
        url="https://arxiv.org/abs/2101.00001v3",
        source="arxiv",
        identifiers=Identifiers(arxiv="2101.00001", doi="10.1000/abc.7"),
        pdf_urls=("https://arxiv.org/pdf/2101.00001v3",),
        versions=PreprintVersions(first=dt.date(2021, 1, 2), newest=3, newest_day=dt.date(2021, 3, 4)),
    )


@pytest.mark.parametrize(
    "words",
    [
        "This paper has been withdrawn by the author due to a crucial error in Lemma 3",
        "Withdrawn: the main theorem is wrong",
        "withdrawn by arXiv administration",
    ],
)
def test_withdrawal_notice_in_comment_or_abstract_marks_paper_withdrawn(words: str) -> None:
    for paper in (
        read_only_paper(make_entry(comment=f"<arxiv:comment>{words}</arxiv:comment>")),
        read_only_paper(make_entry(summary=f"<summary>\n  {words}</summary>")),
    ):
        assert paper.retraction is not None
        assert paper.retraction.kind == "withdrawn"
        assert paper.retraction.date == dt.date(2021, 3, 4)
        assert paper.retraction.notice == "https://arxiv.org/abs/2101.00001v3"


@pytest.mark.parametrize(
    "words",
    [
        "12 pages; a figure was withdrawn in this version",
        "Patients who had withdrawn consent were left out of the paper",
        "We study when participants are withdrawn from trials",
    ],
)
def test_incidental_use_of_withdrawn_does_not_mark_paper(words: str) -> None:
    assert read_only_paper(make_entry(comment=f"<arxiv:comment>{words}</arxiv:comment>")).retraction is None


def test_entries_without_id_or_title_are_skipped() -> None:
    page = read_page(
        make_feed(make_entry(id="<id>http://arxiv.org/nothing</id>"), make_entry(title=""), make_entry(), total=3), 0
    )
    assert [paper.id for paper in page.papers] == ["arxiv:2101.00001"]


def test_error_feed_raises_source_refused_with_arxiv_message() -> None:
    error = make_entry(
        id="<id>http://arxiv.org/api/errors#incorrect_id_format_for_x</id>",
        title="<title>Error</title>",
        summary="<summary>incorrect id format for x</summary>",
    )
    with pytest.raises(SourceRefused, match="incorrect id format for x"):
        read_page(make_feed(error), 0)


def test_paper_titled_error_is_not_an_error_feed() -> None:
    assert read_only_paper(make_entry(title="<title>Error</title>")).title == "Error"


@pytest.mark.parametrize(
    "body",
    [
        b"Rate exceeded.",
        b"",
        b"<html><body>no feed</body></html>",
        make_feed(make_entry())[:-30],
        make_feed(total=7),
        b'<!DOCTYPE feed [<!ENTITY a "aaaa">]>' + make_feed(make_entry(title="<title>&a;</title>")),
        b'<!DOCTYPE feed SYSTEM "http://127.0.0.1:1/evil.dtd">' + make_feed(make_entry()),
        b'<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        + make_feed(make_entry(title="<title>&x;</title>")),
        b"<!DOCTYPE z [<!ENTITY a0 'ha'>"
        + b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 20) for n in range(1, 12))
        + b"]>"
        + make_feed(make_entry(title="<title>&a11;</title>")),
        b"<a>" * 100_000,
        b" " * (16 * 2**20 + 1),
    ],
    ids=lambda body: repr(body[:40]),
)
def test_invalid_feed_is_reported_as_malformed(body: bytes) -> None:
    with pytest.raises(SourceMalformed) as caught:
        read_page(body, 0)
    assert caught.value.hint
    assert len(str(caught.value)) < 500


_ELEMENTS = st.sampled_from(
    ["id", "title", "summary", "published", "updated", "link", "author", "name", "arxiv:doi", "arxiv:comment", "b"]
)
_SAMPLE_TEXTS = st.sampled_from(
    ["http://arxiv.org/abs/2101.00001v2", "9999-99-99T", "0000", "Error", "10.1/x", "withdrawn"]
)
_texts = st.one_of(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=12), _SAMPLE_TEXTS)


@st.composite
def draw_nodes(draw: st.DrawFn, depth: int = 2) -> str:
    name, text = draw(_ELEMENTS), draw(_texts)
    inner = "".join(draw(st.lists(draw_nodes(depth - 1), max_size=2))) if depth else ""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    quoted = escaped.replace('"', "&quot;")
    return f'<{name} href="{quoted}" rel="alternate">{escaped}{inner}</{name}>'


@given(entries=st.lists(st.lists(draw_nodes(), max_size=6), max_size=4), total=st.integers(-5, 10**12))
def test_any_feed_gives_papers_or_a_source_error(entries: list[list[str]], total: int) -> None:
    body = make_feed(*(f"<entry>{''.join(parts)}</entry>" for parts in entries), total=total)
    etree.fromstring(body)
    try:
        page = read_page(body, 0)
    except SourceError:
        return
    assert all(paper.title and paper.identifiers.arxiv for paper in page.papers)


@given(body=st.binary(max_size=60))
def test_any_bytes_give_papers_or_a_source_error(body: bytes) -> None:
    for response_body in (body, HEAD.encode() + body + b"</feed>"):
        try:
            read_page(response_body, 0)
        except SourceError:
            continue


@given(text=st.text(max_size=300), window=st.sampled_from([Window(), WINDOW, Window(before=WINDOW.before)]))
def test_query_contains_only_words_and_generated_operators(text: str, window: Window) -> None:
    query = build_search_query(text, window)
    words = r"all:[a-z0-9]{2,}(?: OR all:[a-z0-9]{2,}){0,23}"
    dates = r" AND submittedDate:\[\d{12} TO \d{12}\]"
    assert query == "" or re.fullmatch(words if window == Window() else rf"\({words}\){dates}", query)


def test_query_deduplicates_significant_words_and_strips_accents() -> None:
    query = build_search_query('The Café of "graphs" AND ti:graphs ANDNOT (naïve)', WINDOW)
    assert query == (
        "(all:cafe OR all:graphs OR all:ti OR all:andnot OR all:naive) AND submittedDate:[202002010000 TO 202106302359]"
    )


async def test_only_well_formed_ids_are_requested() -> None:
    remote = CannedRemote(default=make_response(make_feed(make_entry())))
    names = [
        Identifiers(arxiv="2101.00001"),
        Identifiers(arxiv="no id, &max_results=1"),
        Identifiers(arxiv="２１０１.00001"),
        Identifiers(doi="10.1/x"),
        Identifiers(doi="10.48550/arxiv.2101.00001"),
    ]
    papers = await Arxiv(remote).resolve(names, ASK)
    known_id = "arxiv:2101.00001"
    assert [paper.id if paper else None for paper in papers] == [known_id, None, None, None, known_id]
    assert [dict(call.params)["id_list"] for call in remote.calls] == ["2101.00001"]


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("id", "<id>http://arxiv.org/abs/2101.00001</id>"),
        ("id", "<id>http://arxiv.org/abs/2101.00001v0</id>"),
        ("updated", ""),
    ],
)
def test_versions_are_unknown_without_version_number_or_update_date(part: str, changed: str) -> None:
    assert read_only_paper(make_entry(**{part: changed})).versions is None
