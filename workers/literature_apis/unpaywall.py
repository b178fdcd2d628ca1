"""Unpaywall (`https://api.unpaywall.org/v2`): locations of open-access copies, by DOI.

It allows one DOI per request and 100,000 requests per day. Requests without an email address are refused (422)."""

from dataclasses import dataclass
from typing import ClassVar

from assayer.models import Identifiers
from workers.literature_apis.query_encoding import ARXIV_PREFIX, encode_path_segment
from workers.literature_apis.record_fields import (
    ApiObject,
    ObjectOrNone,
    TextOrEmpty,
    ValidEntries,
    list_distinct_links,
)
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, fetch_json

_SOURCE = "unpaywall"


class _Location(ApiObject):
    url_for_pdf: TextOrEmpty = ""


class _Record(ApiObject):
    doi: str
    best_oa_location: ObjectOrNone[_Location] = None
    oa_locations: ValidEntries[_Location] = ()


@dataclass(frozen=True)
class Unpaywall:
    """Client for Unpaywall. Implements LocatesPdfs."""

    remote: SourceFetcher
    name: ClassVar[str] = _SOURCE

    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        """Return the URLs of open-access copies; empty for papers without a DOI and for arXiv DOIs, because Unpaywall
        covers only Crossref DOIs."""
        if not paper.doi or paper.doi.startswith(ARXIV_PREFIX):
            return ()
        request = SourceRequest(_SOURCE, "open_access", encode_path_segment(paper.doi))
        record = await fetch_json(self.remote, request, context, _Record)
        locations = (record.best_oa_location, *record.oa_locations) if record else ()
        return list_distinct_links(*(location.url_for_pdf for location in locations if location))
