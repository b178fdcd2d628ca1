"""Where full texts come from, what reads them, and how long anybody waits for them."""

import datetime as dt
import os
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from assayer.models import Frozen
from workers.documents import PdfLimits
from workers.fetching import DownloadLimits
from workers.fetching.settings import comma_separated

__all__ = ["FullTextSettings", "GrobidSettings", "HostSettings"]


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{url!r} is no http or https address")
    if urlsplit(url).username is not None:
        raise ValueError("an address with a user name would show it in logs")
    return url.rstrip("/")


Address = Annotated[str, AfterValidator(_address)]


class HostSettings(Frozen):
    """Repositories that give a PDF for an identifier."""

    arxiv: Address = "https://export.arxiv.org/pdf"
    """The mirror that arXiv keeps for programs."""
    arxiv_spacing_seconds: float = Field(default=1.0, ge=0)
    """Between two PDFs from arXiv, one at a time, over all processes together. It lets programs harvest that mirror in
    bursts of four a second with a second's rest; its three seconds are for the API."""
    acl: Address = "https://aclanthology.org"
    pmc: Address = "https://pmc.ncbi.nlm.nih.gov/articles"
    openreview: Address = "https://openreview.net/pdf"
    publishers: Annotated[tuple[str, ...], BeforeValidator(comma_separated)] = (
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
    """Hosts on which a paper stays as it was published, subdomains included. An evaluation with a cutoff reads copies
    from these and from the repositories above, where they tell versions apart, and from no other host."""


class GrobidSettings(Frozen):
    urls: Annotated[tuple[Address, ...], BeforeValidator(comma_separated)] = ()
    """Servers, without `/api`; in an environment variable separated by commas. None: PDFs are read in this process's
    own children."""
    client: Literal["aiohttp", "grobid-client-python"] = "aiohttp"
    """What makes a request: one over aiohttp, or GROBID's own client (`assayer[grobid]`), with the same form and
    the same outcomes. The second costs a thread for each document in work, and more processor time."""
    slots: int = Field(default=4, ge=1)
    """Documents that each server works on at once; set it to the server's own `concurrency`."""
    document_seconds: float = Field(default=120.0, gt=0)
    """For one document on one server; what takes longer is taken for a hang."""
    look_seconds: float = Field(default=10.0, gt=0)
    """A server that has not answered for so long is asked whether it is alive, again and again until it answers."""
    alive_seconds: float = Field(default=5.0, gt=0)
    """For the answer to that question."""
    attempts: int = Field(default=3, ge=1)
    """Servers that may break down over one document before it is given up."""
    busy_seconds: float = Field(default=0.05, gt=0)
    """A slot rests so long after a server's first 503, twice as long after the next one in a row."""
    busy_seconds_max: float = Field(default=5.0, gt=0)
    recover_seconds: float = Field(default=2.0, gt=0)
    """Between two looks at a server that is out of the pool."""
    outage_seconds: float = Field(default=10.0, ge=0)
    """How long a document waits while every server is out of the pool; then it is read without GROBID."""


class FullTextSettings(Frozen):
    fetch: bool = False
    """Whether free copies of papers are fetched from where sources say they lie. Without it only the texts that came
    with the corpus are read."""
    store: str = ""
    """fsspec URL (a directory, `s3://…`, `gs://…`) of documents and what was read in them; `documents` in the data
    directory when empty."""
    hosts: HostSettings = HostSettings()
    download: DownloadLimits = DownloadLimits()
    pdf: PdfLimits = PdfLimits()
    parsers_at_once: int = Field(default_factory=lambda: max(1, os.cpu_count() or 1), ge=1)
    """Children that read PDFs side by side; each takes one core and `pdf.memory_bytes`."""
    at_once: int = Field(default=32, ge=1)
    """Papers that are fetched and read at once, all evaluations of this process together."""
    copies: int = Field(default=4, ge=1)
    """Addresses that are tried for one paper, and again as many from each locator of free copies."""
    paper_seconds: float = Field(default=120.0, gt=0)
    """How long an evaluation waits for one paper."""
    run_seconds: float = Field(default=600.0, gt=0)
    """How long it waits for all of them together."""
    work_seconds: float = Field(default=300.0, gt=0)
    """How long the work on one paper may go on, whether anybody still waits for it or not."""
    claim_look_seconds: float = Field(default=0.5, gt=0)
    """Between two looks whether another process is done with an address."""
    retry_failed: dt.timedelta = dt.timedelta(hours=6)
    """A server that failed is asked again after so long."""
    retry_refused: dt.timedelta = dt.timedelta(days=7)
    """So is an address that gave no PDF or broke a limit, and a document that no parser could read."""
    keep_found: dt.timedelta = dt.timedelta(days=90)
    """An address counts as the same document for so long."""
