"""Harvest arXiv metadata over OAI-PMH (metadataPrefix arXiv), in windows of days.

Existing OAI-PMH clients are not used, because their HTTP layer would bypass our address checks."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from lxml import etree

from assayer.errors import SourceMalformed, SourceRefused
from assayer.literature.paper_identity import find_doi, parse_arxiv_id
from assayer.literature.withdrawals import says_withdrawn
from index.ingest.harvest_days import DaySpan
from index.ingest.pipeline import Ingest, ReportProgress
from index.ingest.raw_files import IngestedSource, SourceWriter
from index.ingest.record_rows import IdentifierRow, RecordRow, build_deletion_row, parse_day
from index.ingest.source_files import IngestSource, IngestTransport

_MAX_PAGES = 10_000
_BAD_TOKEN = "badResumptionToken"  # noqa: S105 - a code of the protocol
_ATTEMPTS = 3
MAX_PAGE_BYTES = 64 * 2**20
_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_ARXIV = "{http://arxiv.org/OAI/arXiv/}"
_SERVICE_HINT = "Check the URL of the OAI-PMH service."
_NO_RECORDS = "noRecordsMatch"


def split_into_windows(first: dt.date, last: dt.date) -> Iterator[tuple[dt.date, dt.date]]:
    """Split an inclusive range of days into calendar months; the first and the last can be partial."""
    while first <= last:
        next_month = (first.replace(day=1) + dt.timedelta(days=32)).replace(day=1)
        yield first, min(next_month - dt.timedelta(days=1), last)
        first = next_month


class ArxivHarvest:
    """Harvests arXiv's records by datestamp."""

    def __init__(self, transport: IngestTransport, base_url: str, arxiv_set: str = "") -> None:
        """Create a harvester. `arxiv_set` is one of the service's sets, such as `cs` or `physics:hep-th`; if empty, all
        of arXiv is harvested."""
        self._transport = transport
        self._base_url = base_url
        self._arxiv_set = arxiv_set

    async def harvest(self, ingest: Ingest, spans: Sequence[DaySpan], report: ReportProgress) -> list[IngestedSource]:
        """Harvest the requested days, skipping windows that were already harvested. Raises SourceError if the service
        fails, refuses a request or sends a malformed response."""
        sources = [self._build_source(*window) for span in spans for window in split_into_windows(*span)]
        missing_sources = ingest.find_missing(sources)
        marks = []
        for number, source in enumerate(missing_sources):
            report("Harvesting", number, len(missing_sources))
            marks.append(await self._harvest_window(source, ingest))
        report("Harvesting", len(missing_sources), len(missing_sources))
        return marks

    def _build_source(self, first: dt.date, last: dt.date) -> IngestSource:
        """Return the source for a window. Later windows take precedence, because a record's datestamp is the day of its
        last change."""
        name = f"{self._arxiv_set or 'all'}/{first}--{last}"
        return IngestSource(kind="arxiv", name=name, layer=last.toordinal(), seal="oai")

    async def _harvest_window(self, source: IngestSource, ingest: Ingest) -> IngestedSource:
        """Harvest a window, and start over if the resumption token has expired."""
        for _ in range(_ATTEMPTS):
            try:
                with SourceWriter(source, ingest.root, ingest.state.partitions) as intake:
                    await self._read_pages(source, intake)
            except _TokenExpired:
                continue
            return intake.mark
        raise SourceRefused(
            f"The resumption token for {source.name} of arXiv's OAI-PMH service expired {_ATTEMPTS} times.",
            "Try again later.",
        )

    async def _read_pages(self, source: IngestSource, intake: SourceWriter) -> None:
        first, last = source.name.rsplit("/", 1)[1].split("--")
        parameters = {"verb": "ListRecords", "metadataPrefix": "arXiv", "from": first, "until": last}
        query = parameters | ({"set": self._arxiv_set} if self._arxiv_set else {})
        line = 0
        for _ in range(_MAX_PAGES):
            page = read_oai_page(await self._transport.read(f"{self._base_url}?{urlencode(query)}"))
            if isinstance(page, OaiError):
                raise _convert_oai_error(page, source)
            for entry in page.entries:
                line += 1
                intake.add(line, entry.row, entry.size, entry.deleted)
            if not page.token:
                return
            query = {"verb": "ListRecords", "resumptionToken": page.token}
        raise SourceMalformed(
            f"arXiv's list for {source.name} has more than {_MAX_PAGES:,} pages.", "Request fewer days at once."
        )


class _TokenExpired(Exception):
    """The resumption token has expired."""


class OaiError(NamedTuple):
    """Error response from the service, with a code such as `badResumptionToken` or `badArgument`."""

    code: str
    message: str


def _convert_oai_error(error: OaiError, source: IngestSource) -> Exception:
    if error.code == _BAD_TOKEN:
        return _TokenExpired()
    return SourceRefused(f"arXiv's OAI-PMH service refused {source.name}: {error.code} {error.message}".strip())


class OaiRecord(NamedTuple):
    row: RecordRow | str
    """The record's row, or the reason why the record is rejected."""
    deleted: bool
    size: int


class OaiPage(NamedTuple):
    entries: tuple[OaiRecord, ...]
    token: str
    """Resumption token for the next page; empty on the last page."""


def make_arxiv_paper_id(name: str) -> str:
    """Return the paper id for an arXiv id."""
    return f"arxiv:{name}"


def read_oai_page(body: bytes) -> OaiPage | OaiError:
    """Parse a page from the service. If the service reports that no records match, an empty page is returned. Raises
    SourceMalformed if the page is too large or is not a valid OAI-PMH response."""
    root = _parse_root(body)
    error = root.find(f"{_OAI}error")
    if error is not None and error.get("code") != _NO_RECORDS:
        return OaiError(error.get("code", ""), " ".join((error.text or "").split())[:200])
    record_list = root.find(f"{_OAI}ListRecords")
    if error is None and record_list is None:
        raise SourceMalformed("The response from arXiv's OAI-PMH service has no list of records.", _SERVICE_HINT)
    records = [] if record_list is None else record_list.findall(f"{_OAI}record")
    token = "" if record_list is None else record_list.findtext(f"{_OAI}resumptionToken") or ""
    return OaiPage(tuple(_parse_entry(record) for record in records), token.strip())


def _parse_root(body: bytes) -> etree._Element:
    """Parse the body without DTDs, entities or network access. Raises SourceMalformed if it is too large or not an
    OAI-PMH document."""
    if len(body) > MAX_PAGE_BYTES:
        raise SourceMalformed(
            f"A page from arXiv's OAI-PMH service has {len(body):,} bytes; the limit is {MAX_PAGE_BYTES:,}.",
            _SERVICE_HINT,
        )
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise SourceMalformed("The response from arXiv's OAI-PMH service is not XML.", _SERVICE_HINT) from None
    if root.tag != f"{_OAI}OAI-PMH" or root.getroottree().docinfo.internalDTD is not None:
        raise SourceMalformed("The response from arXiv's OAI-PMH service is not an OAI-PMH document.", _SERVICE_HINT)
    return root


def _parse_entry(record: etree._Element) -> OaiRecord:
    header = record.find(f"{_OAI}header")
    name = parse_arxiv_id((header.findtext(f"{_OAI}identifier") or "").rsplit(":", 1)[-1]) if header is not None else ""
    if not name:
        return OaiRecord("id is missing", False, 0)
    if header is not None and header.get("status") == "deleted":
        return OaiRecord(build_deletion_row(make_arxiv_paper_id(name)), True, 100)
    metadata = record.find(f"{_OAI}metadata/{_ARXIV}arXiv")
    return OaiRecord("metadata is missing", False, 0) if metadata is None else _build_paper_row(name, metadata)


def _build_paper_row(name: str, metadata: etree._Element) -> OaiRecord:
    def read_text(tag: str) -> str:
        return " ".join((metadata.findtext(f"{_ARXIV}{tag}") or "").split())

    title, abstract = read_text("title"), read_text("abstract")
    if not title or not abstract:
        return OaiRecord("title is missing" if not title else "abstract is missing", False, 0)
    row = RecordRow(
        make_arxiv_paper_id(name),
        title,
        abstract,
        [
            author
            for element in metadata.iterfind(f"{_ARXIV}authors/{_ARXIV}author")
            if (author := _format_author(element))
        ],
        parse_day(read_text("created")),
        read_text("journal-ref"),
        f"https://arxiv.org/abs/{name}",
        identifiers=IdentifierRow(doi=find_doi(read_text("doi").split(" ")[0]), arxiv=name),
        fields=read_text("categories").split(),
        retracted=says_withdrawn(read_text("comments"), abstract),
    )
    return OaiRecord(row, False, len(title) + len(abstract) + 500)


def _format_author(node: etree._Element) -> str:
    parts = (node.findtext(f"{_ARXIV}{tag}") or "" for tag in ("forenames", "keyname", "suffix"))
    return " ".join(" ".join(parts).split())
