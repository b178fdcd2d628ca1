"""Unpaywall (`https://api.unpaywall.org/v2`): where free copies of a DOI lie.

One DOI a request, 100,000 requests a day; without an e-mail address it refuses (422).
"""

from dataclasses import dataclass
from typing import ClassVar

from assayer.models import Identifiers
from workers.remote.call import Ask, Call, Remote
from workers.sources.answers import Entries, Maybe, Shape, Text, read_known
from workers.sources.asking import ask_for
from workers.sources.dois import ARXIV_PREFIX, in_path
from workers.sources.fields import first_links

__all__ = ["Unpaywall"]

_SOURCE = "unpaywall"


class _Location(Shape):
    url_for_pdf: Text = ""


class _Record(Shape):
    doi: str
    best_oa_location: Maybe[_Location] = None
    oa_locations: Entries[_Location] = ()


@dataclass(frozen=True)
class Unpaywall:
    """Implements LocatesPdfs."""

    remote: Remote
    name: ClassVar[str] = _SOURCE

    async def pdf_urls(self, paper: Identifiers, ask: Ask) -> tuple[str, ...]:
        """Nothing for papers without a DOI, nor for arXiv's DOIs: Unpaywall knows Crossref's."""
        if not paper.doi or paper.doi.startswith(ARXIV_PREFIX):
            return ()
        call = Call(_SOURCE, "open_access", in_path(paper.doi))
        record = await ask_for(self.remote, call, ask, lambda reply: read_known(reply, _Record, _SOURCE))
        places = (record.best_oa_location, *record.oa_locations) if record else ()
        return first_links(*(place.url_for_pdf for place in places if place))
