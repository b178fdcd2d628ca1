"""Settings for where full texts come from, how they are parsed, and how long an evaluation waits for them."""

import datetime as dt
import os
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from assayer.models import Frozen
from workers.documents import PdfLimits
from workers.fetching import DownloadLimits
from workers.fetching.settings import split_commas


def _check_address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{url!r} does not begin with http:// or https://")
    if urlsplit(url).username is not None:
        raise ValueError("the URL contains a user name, which would be visible in logs; remove it")
    return url.rstrip("/")


Address = Annotated[str, AfterValidator(_check_address)]


class HostSettings(Frozen):
    """URLs of repositories that serve PDFs by identifier, and hosts of publishers."""

    arxiv: Address = "https://export.arxiv.org/pdf"
    """arXiv's mirror for programs."""
    arxiv_spacing_seconds: float = Field(default=1.0, ge=0)
    """Seconds between two PDF downloads from arXiv, which run one at a time across all processes. The mirror allows
    bursts of four requests per second, followed by a pause of one second. arXiv's limit of three seconds applies only
    to its API."""
    acl: Address = "https://aclanthology.org"
    pmc: Address = "https://pmc.ncbi.nlm.nih.gov/articles"
    openreview: Address = "https://openreview.net/pdf"
    openreview_apis: Annotated[tuple[Address, ...], BeforeValidator(split_commas)] = (
        "https://api2.openreview.net",
        "https://api.openreview.net",
    )
    """Versions 2 and 1 of OpenReview's API, from which submissions are read."""
    publishers: Annotated[tuple[str, ...], BeforeValidator(split_commas)] = (
        "proceedings.mlr.press",
        "proceedings.neurips.cc",
        "papers.nips.cc",
        "openaccess.thecvf.com",
        "ecva.net",
        "jmlr.org",
        "ojs.aaai.org",
        "ijcai.org",
        "isca-archive.org",
        "ceur-ws.org",
        "drops.dagstuhl.de",
        "dl.acm.org",
        "link.springer.com",
        "nature.com",
        "journals.plos.org",
        "frontiersin.org",
        "biomedcentral.com",
        "elifesciences.org",
    )
    """Hosts, including subdomains, whose papers do not change after publication. An evaluation with a cutoff reads only
    copies from these hosts and from the repositories above, except OpenReview."""


class GrobidSettings(Frozen):
    urls: Annotated[tuple[Address, ...], BeforeValidator(split_commas)] = ()
    """The servers' URLs, without `/api`, separated by commas in an environment variable. If empty, PDFs are parsed in
    this process's own child processes."""
    client: Literal["aiohttp", "grobid-client-python"] = "aiohttp"
    """Client that sends requests: aiohttp, or GROBID's own client (extra `grobid`), with the same requests and results.
    GROBID's client needs one thread per document in progress and more CPU time."""
    slots: int = Field(default=4, ge=1)
    """Maximum number of documents that each server processes concurrently. Set it to the server's own `concurrency`."""
    document_seconds: float = Field(default=120.0, gt=0)
    """Maximum seconds for one document on one server. A server that takes longer counts as hung."""
    look_seconds: float = Field(default=10.0, gt=0)
    """Seconds without a response after which a server's liveness is checked, repeatedly until it responds."""
    alive_seconds: float = Field(default=5.0, gt=0)
    """Seconds to wait for the response to a liveness check."""
    attempts: int = Field(default=3, ge=1)
    """Number of server failures on one document after which GROBID is not retried for it."""
    busy_seconds: float = Field(default=0.05, gt=0)
    """Seconds for which a slot rests after a server's first 503, doubled after each consecutive 503."""
    busy_seconds_max: float = Field(default=5.0, gt=0)
    recover_seconds: float = Field(default=2.0, gt=0)
    """Seconds between two liveness checks of a server that is out of the pool."""
    outage_seconds: float = Field(default=10.0, ge=0)
    """Seconds that a document waits while every server is out of the pool. After that, it is parsed without GROBID."""


class FullTextSettings(Frozen):
    fetch: bool = False
    """Whether to fetch open-access copies of papers from the URLs that sources report. If not, only full texts in the
    corpus are read."""
    store: str = ""
    """fsspec URL (a directory, `s3://…`, `gs://…`) for documents and their parsed forms; by default, `documents` in the
    data directory."""
    hosts: HostSettings = HostSettings()
    download: DownloadLimits = DownloadLimits()
    pdf: PdfLimits = PdfLimits()
    parsers_at_once: int = Field(default_factory=lambda: max(1, os.cpu_count() or 1), ge=1)
    """Maximum number of concurrent child processes that parse PDFs. Each takes one core and `pdf.memory_bytes`."""
    at_once: int = Field(default=32, ge=1)
    """Maximum number of papers fetched and parsed concurrently, across all evaluations in this process."""
    copies: int = Field(default=4, ge=1)
    """Maximum number of URLs tried for one paper, plus as many from each locator of open-access copies."""
    paper_seconds: float = Field(default=120.0, gt=0)
    """Maximum seconds that an evaluation waits for one paper."""
    run_seconds: float = Field(default=600.0, gt=0)
    """Maximum seconds that an evaluation waits for all papers together."""
    work_seconds: float = Field(default=300.0, gt=0)
    """Maximum seconds of work on one paper, which continues even if no caller is waiting for it."""
    claim_look_seconds: float = Field(default=0.5, gt=0)
    """Seconds between two checks of whether another process has finished downloading from a URL."""
    retry_failed: dt.timedelta = dt.timedelta(hours=6)
    """Time after which a failed download or parse is retried."""
    retry_refused: dt.timedelta = dt.timedelta(days=7)
    """Time after which a URL that returned no PDF or exceeded a limit, or a document that no parser could read, is
    retried."""
    keep_found: dt.timedelta = dt.timedelta(days=90)
    """Time for which a URL is assumed to return the same document."""
