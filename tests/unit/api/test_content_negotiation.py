"""Content negotiation: preferred media type and wait of a client."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.web.content_negotiation import choose_media_type, parse_preferred_wait

MEDIA_TYPES = ("application/json", "text/markdown", "text/html")


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("TEXT/HTML", "text/html"),
        ("text/html;q=0.5, text/markdown;q=0.9", "text/markdown"),
        ("text/*, application/json;q=0.5", "text/markdown"),
        ("*/*;q=0.1, text/html;q=0", "application/json"),
        ("text/html;level=1;q=0.7, */*;q=0.1", "text/html"),
        ("application/json;q=0, */*", "text/markdown"),
        ("image/png", None),
        ("*/*;q=0", None),
    ],
)
def test_preferred_media_type_is_chosen(accept: str | None, media: str | None) -> None:
    assert choose_media_type(accept, MEDIA_TYPES) == media


@given(st.text())
def test_any_accept_header_is_parsed(accept: str) -> None:
    assert choose_media_type(accept, MEDIA_TYPES) in (*MEDIA_TYPES, None)


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ([], None),
        (["respond-async"], None),
        (["wait=5"], 5.0),
        (["respond-async, wait=5"], 5.0),
        (["handling=lenient", 'Wait = "7"'], 7.0),
        (["wait=99999"], 60.0),
        (["wait=-1"], None),
        (["wait=5;x=y, wait=9"], 5.0),
    ],
)
def test_preferred_wait_is_parsed_and_capped(prefer: list[str], seconds: float | None) -> None:
    assert parse_preferred_wait(prefer, 60.0) == seconds


@given(st.lists(st.text()))
def test_any_prefer_header_is_parsed(prefer: list[str]) -> None:
    seconds = parse_preferred_wait(prefer, 60.0)
    assert seconds is None or 0 <= seconds <= 60
