"""Kaggle (`https://www.kaggle.com/api/v1`): word search over its users' data sets.

`datasets/list?search=&page=` returns twenty data sets per page; a token is sent in `Authorization: Bearer`. The API
states when a data set was last changed, not when it was created. A data set therefore counts as published on the day of
its last change, so that a cutoff excludes every data set that may have been different then."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field, RootModel

from assayer.cutoff import keep_within_window
from assayer.models import Dataset, Window
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
    parse_date,
)
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, fetch_parsed, parse_json

_PAGE_ENTRIES = 20
_MAX_QUERY_CHARS = 200


class _Entry(ApiObject):
    ref: str
    """Reference in the form `owner/name`."""
    title: TextOrEmpty = ""
    subtitle: TextOrEmpty = ""
    description: TextOrEmpty = ""
    url: TextOrEmpty = ""
    owner: TextOrEmpty = Field(default="", alias="ownerName")
    licence: TextOrEmpty = Field(default="", alias="licenseName")
    changed: TextOrEmpty = Field(default="", alias="lastUpdated")
    downloads: CountOrNone = Field(default=None, alias="downloadCount")


class _Page(RootModel[ValidEntries[_Entry]]):
    pass


@dataclass(frozen=True)
class Kaggle:
    """Client for Kaggle. Implements DatasetSource."""

    remote: SourceFetcher
    name: ClassVar[str] = "kaggle"

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Dataset]:
        words = strip_to_words(query, _MAX_QUERY_CHARS)
        datasets_by_key: dict[str, Dataset] = {}
        for page in range(1, -(-limit // _PAGE_ENTRIES) + 1) if words else ():
            params = (("search", words), ("page", str(page)))
            request = SourceRequest(self.name, "datasets", "datasets/list", params)
            entries = await fetch_parsed(
                self.remote, request, context, lambda response: parse_json(response, _Page, self.name).root
            )
            datasets = [_parse_dataset(entry) for entry in entries if entry.ref.count("/") == 1]
            for dataset in keep_within_window(datasets, window, lambda item: item.published, undated=True):
                datasets_by_key.setdefault(dataset.key, dataset)
            if len(entries) < _PAGE_ENTRIES:
                break
        return list(datasets_by_key.values())[:limit]


def _parse_dataset(record: _Entry) -> Dataset:
    texts = (clean_line(record.subtitle), clean_prose(strip_markup(record.description)))
    return Dataset(
        key=f"kaggle:{clean_line(record.ref)}",
        title=clean_line(record.title) or clean_line(record.ref),
        url=check_link(record.url) or f"https://www.kaggle.com/datasets/{clean_line(record.ref)}",
        description="\n\n".join(filter(None, texts)),
        creators=tuple(filter(None, (clean_line(record.owner),))),
        publisher="Kaggle",
        licence=clean_line(record.licence),
        downloads=record.downloads,
        published=parse_date(record.changed),
    )
