"""Extract the article from a web page, without menus and footers, in the sandboxed process."""

import datetime as dt
from typing import NamedTuple

from trafilatura import bare_extraction

from workers.sandbox.hidden_html_text import HiddenHtmlText, remove_hidden_text
from workers.sandbox.office_text import MAX_HIDDEN_CHARS, MAX_HIDDEN_TEXTS
from workers.sandbox.page_tree import parse_page
from workers.sandbox.refusal import Refused

_DATE_OPTIONS = {"original_date": True, "extensive_search": False, "outputformat": "%Y-%m-%d", "min_date": "1990-01-01"}
"""Options for finding the date: use only the page's metadata and time elements, without guessing from numbers in the
text."""


class ExtractedPage(NamedTuple):
    title: str
    site: str
    published: str
    """Publication date as YYYY-MM-DD; empty if the page does not state it."""
    text: str
    hidden: list[HiddenHtmlText]


def extract_article(page: bytes, charset: str, url: str, today: str, characters: int = 1_000_000) -> ExtractedPage:
    """Extract the article. `charset` is the one declared by the server, or empty. A date after `today` (YYYY-MM-DD) is
    ignored. Raises Refused if the page cannot be read or has no article."""
    tree = parse_page(page, charset)
    hidden = remove_hidden_text(tree)
    article = bare_extraction(
        tree,
        url=url,
        with_metadata=True,
        include_comments=False,
        date_extraction_params={**_DATE_OPTIONS, "max_date": dt.date.fromisoformat(today).isoformat()},
    )
    text = "" if article is None or isinstance(article, dict) else article.text or ""
    if article is None or isinstance(article, dict) or not text.strip():
        raise Refused("no_text")
    if len(text) > characters:
        raise Refused("too_much_text")
    reported_texts = [item._replace(text=item.text[:MAX_HIDDEN_CHARS]) for item in hidden[:MAX_HIDDEN_TEXTS]]
    return ExtractedPage(article.title or "", article.sitename or "", article.date or "", text, reported_texts)
