"""References are numbered once, in reading order, from our own records."""

from assayer.citing.labels import build_marker
from assayer.citing.numbering import Numbering
from assayer.models import Citation, Paper, PaperId, Point

PAPERS = {PaperId(key): Paper(id=PaperId(key), title=f"On [P9] {key}", abstract="…", source="corpus") for key in "abc"}


def make_point(*papers: str) -> Point:
    ids = [PaperId(paper) for paper in papers]
    return Point(
        kind="support",
        text=" ".join(f"[{build_marker(item)}]" for item in ids),
        citations=tuple(Citation(label=build_marker(item), quote=None, quote_state="none") for item in ids),
    )


def test_papers_are_numbered_on_first_use_and_keep_their_number() -> None:
    numbering = Numbering()
    assert numbering.apply(make_point("b", "a")).text == "[P1] [P2]"
    second = numbering.apply(make_point("a", "c"))
    assert second.text == "[P2] [P3]"
    assert [citation.label for citation in second.citations] == ["P2", "P3"]
    references = numbering.build_references(numbering.list_papers(PAPERS))
    assert [(reference.label, reference.id) for reference in references] == [("P1", "b"), ("P2", "a"), ("P3", "c")]


def test_text_resembling_a_marker_is_unchanged() -> None:
    point = Point(
        kind="support",
        text="@Design",
        citations=(Citation(label=build_marker(PaperId("a")), quote="@misc{foo}", quote_state="verified"),),
    )
    numbered = Numbering().apply(point)
    assert (numbered.text, numbered.citations[0].quote, numbered.citations[0].label) == ("@Design", "@misc{foo}", "P1")


def test_source_text_resembling_a_marker_is_not_numbered() -> None:
    quote = "as shown by [@smith2020] for all of the larger models"
    citation = Citation(label=build_marker(PaperId("a")), quote=quote, quote_state="verified", place="On [@smith2020]")
    numbering = Numbering()
    (numbered,) = numbering.apply(Point(kind="support", text="@Design", citations=(citation,))).citations
    assert (numbered.quote, numbered.place) == (quote, "On [@smith2020]")
    assert [paper.id for paper in numbering.list_papers(PAPERS)] == ["a"]


def test_title_that_looks_like_a_citation_label_is_escaped() -> None:
    numbering = Numbering()
    numbering.apply(make_point("a"))
    (reference,) = numbering.build_references(numbering.list_papers(PAPERS))
    assert reference.title == "On (P9) a"
