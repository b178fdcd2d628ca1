"""The article of a page, whatever its bytes are."""

from workers.sandbox.page_extraction import extract_article

PROSE = "We measure how often reviewers agree with each other about the same plan of research. " * 3


def test_page_with_control_characters_is_read_without_them() -> None:
    page = f"<html><body><article><h1>A</h1><p>{PROSE}</p><p>one\x07two\uffff<b>three\x0b</b>four\x01</p></article>"
    article = extract_article(page.encode(), "utf-8", "https://a.example/", "2026-01-01")
    assert "onetwo" in article.text
    assert "threefour" in " ".join(article.text.split()).replace(" ", "")
