"""arXiv's Atom feeds."""

import datetime as dt
from collections.abc import Sequence
from functools import partial
from hashlib import sha1
from textwrap import wrap
from typing import NamedTuple

from lxml import etree

from simulator.outside.library import Entry

_ATOM = "http://www.w3.org/2005/Atom"
_ARXIV = "http://arxiv.org/schemas/atom"
_SEARCH = "http://a9.com/-/spec/opensearch/1.1/"
_NAMES = {"opensearch": _SEARCH, "arxiv": _ARXIV, None: _ATOM}
_UPDATED = "2026-11-20T00:00:00Z"


def _build_node(namespace: str, name: str, *content: "str | etree._Element", **attributes: str) -> etree._Element:
    node = etree.Element(f"{{{namespace}}}{name}", attributes, nsmap=_NAMES)  # type: ignore[arg-type]  # None is the default namespace
    for part in content:
        if isinstance(part, str):
            node.text = remove_invalid_characters(part)
        else:
            node.append(part)
    return node


_atom, _arxiv, _search = (partial(_build_node, namespace) for namespace in (_ATOM, _ARXIV, _SEARCH))


class Feed(NamedTuple):
    search_query: str
    id_list: str
    start: int
    max_results: int
    total: int

    def build_document(self, page: Sequence[Entry], origin: str) -> bytes:
        """Return the feed as XML; `origin` is the simulator's own address, where free copies are."""
        query = (
            f"search_query={self.search_query}&id_list={self.id_list}&start={self.start}&max_results={self.max_results}"
        )
        feed = _atom(
            "feed",
            _atom("id", f"https://arxiv.org/api/{sha1(query.encode(), usedforsecurity=False).hexdigest()[:27]}"),
            _atom("title", f"arXiv Query: {query}"),
            _atom("updated", _UPDATED),
            _atom("link", href=f"https://arxiv.org/api/query?{query}", type="application/atom+xml"),
            _search("itemsPerPage", str(self.max_results)),
            _search("totalResults", str(self.total)),
            _search("startIndex", str(self.start)),
            *(_build_entry(entry, origin) for entry in page),
        )
        return _serialise(feed)


def build_error_feed(message: str) -> bytes:
    anchor = f"https://arxiv.org/api/errors#{message.replace(' ', '_')}"
    feed = _atom(
        "feed",
        _atom("id", "https://arxiv.org/api/error"),
        _atom("title", "arXiv Query: error"),
        _atom("updated", _UPDATED),
        _search("itemsPerPage", "1"),
        _search("totalResults", "1"),
        _search("startIndex", "0"),
        _atom(
            "entry",
            _atom("id", anchor),
            _atom("title", "Error"),
            _atom("summary", message),
            _atom("updated", _UPDATED),
            _atom("link", href=anchor, rel="alternate", type="text/html"),
            _atom("author", _atom("name", "arXiv api core")),
        ),
    )
    return _serialise(feed)


def _build_entry(entry: Entry, origin: str) -> etree._Element:
    record, name = entry.record, f"{entry.arxiv}v{entry.versions}"
    submitted_date = entry.arxiv_date or dt.date.min
    withdrawn = entry.notice is not None and entry.notice.kind == "withdrawn"
    updated_date = (
        entry.notice.date if withdrawn and entry.notice else submitted_date + dt.timedelta(days=20 * entry.versions)
    )
    parts = [
        _atom("id", f"http://arxiv.org/abs/{name}"),
        _atom("title", "\n  ".join(wrap(record.title, 80))),
        _atom("updated", f"{updated_date}T12:00:00Z"),
        _atom("link", href=f"https://arxiv.org/abs/{name}", rel="alternate", type="text/html"),
        _atom("link", href=f"{origin}{entry.pdf_path}", rel="related", type="application/pdf", title="pdf"),
        _atom("summary", "\n".join(wrap(record.abstract, 80))),
        _atom("category", term="cs.LG", scheme=_ARXIV),
        _atom("published", f"{submitted_date}T12:00:00Z"),
    ]
    if withdrawn:
        parts.append(_arxiv("comment", "This paper has been withdrawn by the authors due to an error in Section 3"))
    elif entry.corpus_id % 2:
        parts.append(_arxiv("comment", f"{8 + entry.corpus_id % 30} pages, {entry.corpus_id % 9} figures"))
    if entry.doi and record.venue:
        parts += [
            _arxiv("doi", entry.doi),
            _arxiv("journal_ref", record.venue),
            _atom("link", href=f"https://doi.org/{entry.doi}", rel="related", title="doi"),
        ]
    parts.append(_arxiv("primary_category", term="cs.LG"))
    parts += [_atom("author", _atom("name", author)) for author in record.authors]
    return _atom("entry", *parts)


def remove_invalid_characters(text: str) -> str:
    """Return the text without characters that are not allowed in XML."""
    return "".join(letter for letter in text if letter in "\t\n" or (letter >= " " and letter not in "\ufffe\uffff"))


def _serialise(feed: etree._Element) -> bytes:
    body: bytes = etree.tostring(feed, xml_declaration=True, encoding="UTF-8")
    return body
