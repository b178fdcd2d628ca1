"""Pages of arXiv's OAI-PMH service (metadataPrefix arXiv), and the rows that their records become."""

from typing import NamedTuple

from lxml import etree

from assayer.errors import SourceMalformed
from assayer.identity import arxiv_id, doi
from assayer.withdrawals import says_withdrawn
from index.ingest.fields import IdentifierRow, day
from index.ingest.record_rows import RecordRow, deletion

__all__ = ["MOST_BYTES", "Entry", "OaiError", "Page", "paper_id", "read_page"]

MOST_BYTES = 64 * 2**20
_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_ARXIV = "{http://arxiv.org/OAI/arXiv/}"
_HINT = "Check the address of the OAI-PMH service."
_NO_RECORDS = "noRecordsMatch"


class Entry(NamedTuple):
    row: RecordRow | str
    """Or why there is none."""
    deleted: bool
    size: int


class Page(NamedTuple):
    entries: tuple[Entry, ...]
    token: str
    """Of the next page; empty on the last."""


class OaiError(NamedTuple):
    """An answer that is none: `badResumptionToken`, `badArgument`, …"""

    code: str
    message: str


def paper_id(name: str) -> str:
    """The id under which our arXiv source knows the paper."""
    return f"arxiv:{name}"


def read_page(body: bytes) -> Page | OaiError:
    """An empty window is an empty page. Raises SourceMalformed."""
    root = _root(body)
    error = root.find(f"{_OAI}error")
    if error is not None and error.get("code") != _NO_RECORDS:
        return OaiError(error.get("code", ""), " ".join((error.text or "").split())[:200])
    listed = root.find(f"{_OAI}ListRecords")
    if error is None and listed is None:
        raise SourceMalformed("The answer of arXiv's OAI-PMH service lists no records.", _HINT)
    records = [] if listed is None else listed.findall(f"{_OAI}record")
    token = "" if listed is None else listed.findtext(f"{_OAI}resumptionToken") or ""
    return Page(tuple(_entry(record) for record in records), token.strip())


def _root(body: bytes) -> etree._Element:
    """Parsed without DTDs, entities and network."""
    if len(body) > MOST_BYTES:
        raise SourceMalformed(f"A page of arXiv's OAI-PMH service has {len(body):,} bytes.", _HINT)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise SourceMalformed("The answer of arXiv's OAI-PMH service is not XML.", _HINT) from None
    if root.tag != f"{_OAI}OAI-PMH" or root.getroottree().docinfo.internalDTD is not None:
        raise SourceMalformed("The answer of arXiv's OAI-PMH service is no OAI-PMH document.", _HINT)
    return root


def _entry(record: etree._Element) -> Entry:
    header = record.find(f"{_OAI}header")
    name = arxiv_id((header.findtext(f"{_OAI}identifier") or "").rsplit(":", 1)[-1]) if header is not None else ""
    if not name:
        return Entry("id is missing", False, 0)
    if header is not None and header.get("status") == "deleted":
        return Entry(deletion(paper_id(name)), True, 100)
    told = record.find(f"{_OAI}metadata/{_ARXIV}arXiv")
    return Entry("metadata is missing", False, 0) if told is None else _paper(name, told)


def _paper(name: str, told: etree._Element) -> Entry:
    def words(tag: str) -> str:
        return " ".join((told.findtext(f"{_ARXIV}{tag}") or "").split())

    title, abstract = words("title"), words("abstract")
    if not title or not abstract:
        return Entry("title is missing" if not title else "abstract is missing", False, 0)
    row = RecordRow(
        paper_id(name),
        title,
        abstract,
        [author for one in told.iterfind(f"{_ARXIV}authors/{_ARXIV}author") if (author := _author(one))],
        day(words("created")),
        words("journal-ref"),
        f"https://arxiv.org/abs/{name}",
        identifiers=IdentifierRow(doi=doi(words("doi").split(" ")[0]), arxiv=name),
        fields=words("categories").split(),
        retracted=says_withdrawn(words("comments"), abstract),
    )
    return Entry(row, False, len(title) + len(abstract) + 500)


def _author(node: etree._Element) -> str:
    parts = (node.findtext(f"{_ARXIV}{tag}") or "" for tag in ("forenames", "keyname", "suffix"))
    return " ".join(" ".join(parts).split())
