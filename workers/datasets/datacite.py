"""DataCite (`https://api.datacite.org`): data sets from research archives in all fields (Zenodo, Dryad, PANGAEA, …).

Searches use `dois?resource-type-id=dataset&query=` with Elasticsearch's query string syntax, of which only words and a
date range are used. Without a key, 3,000 requests per five minutes are allowed. A data set counts as published on the
day its DOI was registered, which cannot be backdated."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from assayer.cutoff import keep_within_window
from assayer.literature.paper_identity import find_doi
from assayer.models import OPEN, Dataset, Window
from assayer.text.markup import strip_markup
from workers.literature_apis.query_encoding import strip_to_words
from workers.literature_apis.record_fields import (
    ApiObject,
    CountOrNone,
    TextOrEmpty,
    ValidEntries,
    check_link,
    clean_line,
    clean_prose,
    clean_title,
    parse_date,
)
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, fetch_parsed, parse_json

_MAX_QUERY_CHARS = 300
_MAX_RECORDS = 100
"""Maximum number of records per page."""


class _Title(ApiObject):
    title: TextOrEmpty = ""
    kind: TextOrEmpty = Field(default="", alias="titleType")
    """Kind of title, such as a subtitle or a translation; empty for the main title."""


class _Description(ApiObject):
    description: TextOrEmpty = ""
    kind: TextOrEmpty = Field(default="", alias="descriptionType")


class _Creator(ApiObject):
    name: TextOrEmpty = ""


class _Rights(ApiObject):
    rights: TextOrEmpty = ""


class _Publisher(ApiObject):
    name: TextOrEmpty = ""


class _Attributes(ApiObject):
    doi: str
    url: TextOrEmpty = ""
    titles: ValidEntries[_Title] = ()
    descriptions: ValidEntries[_Description] = ()
    creators: ValidEntries[_Creator] = ()
    publisher: str | _Publisher | None = None
    """Publisher: a string in older versions of the API, an object in newer ones."""
    rights: ValidEntries[_Rights] = Field(default=(), alias="rightsList")
    registered: TextOrEmpty = ""
    downloads: CountOrNone = Field(default=None, alias="downloadCount")


class _Record(ApiObject):
    attributes: _Attributes


class _Answer(ApiObject):
    data: ValidEntries[_Record]


@dataclass(frozen=True)
class DataCite:
    """Client for DataCite. Implements DatasetSource."""

    remote: SourceFetcher
    name: ClassVar[str] = "datacite"

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Dataset]:
        words = strip_to_words(query, _MAX_QUERY_CHARS)
        if not words or limit <= 0:
            return []
        params = (
            ("query", words if window == OPEN else f"({words}) AND {_build_registration_filter(window)}"),
            ("resource-type-id", "dataset"),
            ("sort", "relevance"),
            ("disable-facets", "true"),
            ("page[size]", str(min(limit, _MAX_RECORDS))),
        )
        request = SourceRequest(self.name, "datasets", "dois", params)
        records = await fetch_parsed(
            self.remote, request, context, lambda response: parse_json(response, _Answer, self.name).data
        )
        datasets = filter(None, (_parse_dataset(record.attributes) for record in records))
        datasets_by_key = {
            item.key: item for item in keep_within_window(datasets, window, lambda item: item.published, undated=True)
        }
        return list(datasets_by_key.values())[:limit]


def _build_registration_filter(window: Window) -> str:
    """Return the filter on the registration date, with both ends inclusive. The window's start is exclusive, so results
    on that day are removed later."""
    return f"registered:[{window.after or '*'} TO {window.before or '*'}]"


def _parse_dataset(record: _Attributes) -> Dataset | None:
    """Convert a record to a data set; None if it has no title or usable DOI."""
    name = find_doi(record.doi) if record.doi.isprintable() else ""
    titles = sorted(record.titles, key=lambda item: bool(item.kind))
    title = next((text for item in titles if (text := clean_title(item.title))), "")
    if not name or not title:
        return None
    texts = [
        clean_prose(strip_markup(description.description))
        for description in record.descriptions
        if description.kind != "TableOfContents"
    ]
    publisher = record.publisher.name if isinstance(record.publisher, _Publisher) else record.publisher
    return Dataset(
        key=f"doi:{name}",
        title=title,
        url=check_link(record.url) or f"https://doi.org/{name}",
        description="\n\n".join(filter(None, texts)),
        creators=tuple(filter(None, (clean_line(creator.name) for creator in record.creators))),
        publisher=clean_line(publisher or ""),
        licence=clean_line(record.rights[0].rights) if record.rights else "",
        downloads=record.downloads,
        published=parse_date(record.registered),
    )
