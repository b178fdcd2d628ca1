"""Labels, markers and quotes: what a report can cite."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.evidence import Evidence, Quoted, build_point, check_quote
from assayer.citing.foreign_labels import WRONG_FORM, find_foreign_labels
from assayer.citing.labels import (
    MARKER,
    build_marker,
    label_papers,
    parse_marker,
    relabel,
    replace_labels_with_markers,
    strip_citations,
)
from assayer.models import PaperId

SOURCE = (
    "We train a small reader on 40,000 annotated claims. It reaches 71.3% accuracy, which is 4 points below "
    "human agreement; on out-of-domain claims accuracy drops to 58%."
)
EVIDENCE = Evidence(label="P1", paper_id=PaperId("a"), title="A reader", year=2021, text=SOURCE)


@given(st.text(min_size=1))
def test_paper_id_survives_marker_round_trip(paper: str) -> None:
    text = f"Shown in [{build_marker(PaperId(paper))}]."
    (paper_id,) = MARKER.findall(text)
    assert parse_marker(paper_id) == paper


def test_labels_are_converted_to_markers_and_relabelled() -> None:
    papers = label_papers([PaperId("a"), PaperId("b")])
    text = replace_labels_with_markers("Seen [P1], confirmed [P2; P1].", papers)
    assert text == "Seen [@a], confirmed [@b][@a]."
    assert relabel(text, {PaperId("a"): "P9", PaperId("b"): "P4"}) == "Seen [P9], confirmed [P4][P9]."


def test_links_and_markers_written_by_model_are_removed() -> None:
    text = replace_labels_with_markers("See https://example.com/x and [@b] [P1].", label_papers([PaperId("a")]))
    assert text == "See (link removed) and (@b] [@a]."
    assert strip_citations("as [P3] says at www.example.com") == "as (another paper) says at (link removed)"


@pytest.mark.parametrize(
    "address",
    [
        "HTTPS://evil.example/x",
        "Www.evil.example",
        "ftp://a.example",
        "//evil.example",
        "doi.org/10.1/x",
        "doi: 10.1/x",
    ],
)
def test_links_in_any_form_are_removed(address: str) -> None:
    assert strip_citations(f"see {address} there") == "see (link removed) there"


@pytest.mark.parametrize("bracket", ["[P1 and P2]", "[P1-P2]", "[P1, p. 4]", "[see P2]"])
def test_brackets_that_only_look_like_citations_are_complained_about(bracket: str) -> None:
    text = f"Shown {bracket} and [P1]."
    (complaint,) = find_foreign_labels(text, ["P1", "P2"])
    assert (text[complaint.start : complaint.end], complaint.kind) == (bracket, WRONG_FORM)
    assert strip_citations(f"Shown {bracket}.") == "Shown (another paper)."


@pytest.mark.parametrize(
    ("quote", "state"),
    [
        ("It reaches 71.3% accuracy, which is 4 points below human agreement", "verified"),
        ("“It reaches 71.3% accuracy which is 4 points below human agree-ment”", "verified"),
        ("It reaches 91.3% accuracy, far above human agreement", "not_found"),
        ("58%", "not_found"),
    ],
)
def test_quote_is_verified_only_when_found_in_source(quote: str, state: str) -> None:
    quoted = check_quote(quote, EVIDENCE)
    assert quoted is not None
    assert quoted.state == state


def test_empty_quote_is_ignored() -> None:
    assert check_quote(' "" ', EVIDENCE) is None


def test_a_point_whose_quotes_were_not_found_is_downgraded() -> None:
    papers = label_papers([PaperId("a"), PaperId("b")])
    quotes = {PaperId("a"): Quoted(words="made up words", state="not_found")}
    assert build_point("support", "Claimed in [P1].", papers, quotes).downgraded
    quotes_of_both = quotes | {PaperId("b"): Quoted(words="real words of it", state="verified")}
    assert not build_point("support", "Claimed in [P1] and [P2].", papers, quotes_of_both).downgraded
    assert not build_point("support", "No quote at all in [P2].", papers, quotes).downgraded


def test_url_is_kept_only_in_verified_quote() -> None:
    words = "The code that we used is at https://example.org/code for everybody"
    longer_evidence = EVIDENCE.model_copy(update={"text": f"{SOURCE} {words}."})
    verified, invented = check_quote(words, longer_evidence), check_quote(words, EVIDENCE)
    assert verified is not None
    assert invented is not None
    assert (verified.state, verified.words) == ("verified", words)
    assert "https" not in invented.words


@pytest.mark.parametrize(
    ("text", "is_truncated"),
    [
        ("It reaches 71.3% accuracy.", False),
        ("Code is at https://github.com/who/what", False),
        ("We show that $O(n)$", False),
        ("读者的准确率很高。", False),
        ("", False),
    ],
)
def test_text_ending_mid_sentence_is_marked_as_truncated(text: str, is_truncated: bool) -> None:
    assert EVIDENCE.model_copy(update={"text": text}).breaks_off is is_truncated
