"""Read an OpenAlex snapshot: find its files through its manifest, and convert works to rows."""

import csv
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from assayer.errors import InputError, SourceMalformed, SourceRefused
from assayer.literature.openalex_fields import collect_work_identifiers, parse_work_id, rebuild_abstract
from index.ingest.record_rows import (
    IdentifierRow,
    RecordRow,
    convert_to_count,
    convert_to_link,
    convert_to_list,
    convert_to_text,
    parse_day,
)
from index.ingest.source_files import IngestSource, IngestTransport
from index.ingest.storage_path import StoragePath

_WORKS = "/works/"
_HINT = "Pass the URL or path of a manifest of works, such as `…/data/jsonl/works/manifest.json`."


class _Meta(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    content_length: int
    record_count: int = 0


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    url: str
    meta: _Meta


class _Manifest(BaseModel):
    """Manifest of a snapshot. The list is called `files` since 2026; before, it was called `entries`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    date: str = ""
    files: tuple[_File, ...] = Field(validation_alias=AliasChoices("files", "entries"))


class OpenAlexFiles:
    """Files of works next to their manifest, on the web or in a file system."""

    def __init__(self, manifest: str, transport: IngestTransport, incoming: Path) -> None:
        self._manifest = manifest
        self._transport = transport
        self._incoming = incoming
        self._sizes: Mapping[str, int] = {}
        self.date = ""

    async def list_sources(self) -> Sequence[IngestSource]:
        """Return the files that the manifest lists. Raises InputError if there is no manifest, SourceMalformed if it is
        invalid or lists other files than works, and the transport's errors."""
        try:
            manifest = _Manifest.model_validate_json(await self._read())
        except ValidationError:
            raise SourceMalformed(f"{self._manifest} is not a manifest of an OpenAlex snapshot.", _HINT) from None
        if any(_WORKS not in file.url or ".." in file.url for file in manifest.files):
            raise SourceMalformed(f"{self._manifest} lists files that do not contain works.", _HINT)
        base_address = self._manifest.rsplit("/", 1)[0]
        files_by_name = {file.url.split(_WORKS, 1)[1]: file.meta for file in manifest.files}
        self.date = manifest.date
        self._sizes = {name: meta.content_length for name, meta in files_by_name.items()}
        return [
            IngestSource(
                kind="openalex",
                name=name,
                address=f"{base_address}/{name}",
                seal=f"{meta.content_length}-{meta.record_count}",
            )
            for name, meta in files_by_name.items()
        ]

    @asynccontextmanager
    async def open_source(self, source: IngestSource) -> AsyncIterator[str]:
        if not is_web(source.address):
            yield source.address
            return
        path = self._incoming / source.name.replace("/", "-")
        if await self._transport.save(source.address, path, self._sizes.get(source.name)) == "refused":
            raise SourceRefused(
                f"{source.address} could not be downloaded.", "The snapshot may have changed; run the command again."
            )
        yield str(path)
        path.unlink()

    async def _read(self) -> bytes:
        if is_web(self._manifest):
            return await self._transport.read(self._manifest)
        place = StoragePath.parse(self._manifest)
        if not place.exists():
            raise InputError(f"There is no file {place}.", _HINT)
        return place.read()


def is_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))


def make_openalex_paper_id(work: str) -> str:
    """Return the paper id for an OpenAlex work id."""
    return f"openalex:{work}"


def build_work_row(data: Mapping[str, Any]) -> RecordRow | str:
    work = parse_work_id(convert_to_text(data.get("id")))
    if not work:
        return "id is missing"
    if data.get("is_xpac") is True:
        return "belongs to the expansion pack (is_xpac)"
    title = convert_to_text(data.get("title")) or convert_to_text(data.get("display_name"))
    abstract = rebuild_abstract(data.get("abstract_inverted_index"))
    if not title.strip() or not abstract:
        return "title is missing" if not title.strip() else "abstract is missing"
    primary_location = _convert_to_object(data.get("primary_location"))
    return RecordRow(
        make_openalex_paper_id(work),
        title,
        abstract,
        _parse_authors(data.get("authorships")),
        parse_day(_drop_unknown_day(convert_to_text(data.get("publication_date"))), data.get("publication_year")),
        convert_to_text(_convert_to_object(primary_location.get("source")).get("display_name")),
        convert_to_link(primary_location.get("landing_page_url"))
        or convert_to_link(data.get("doi"))
        or convert_to_link(data.get("id")),
        convert_to_count(data.get("cited_by_count")),
        _parse_identifiers(data, work),
        _parse_references(data),
        _parse_fields(data),
        data.get("is_retracted") is True,
    )


def _parse_references(data: Mapping[str, Any]) -> list[str] | None:
    work_ids = (parse_work_id(convert_to_text(work_id)) for work_id in convert_to_list(data.get("referenced_works")))
    return [make_openalex_paper_id(work) for work in work_ids if work] or None


def read_merged_ids(lines: Iterable[str]) -> Iterator[str]:
    """Yield the ids of works that were merged into others, from the legacy snapshot's CSV lines
    `merge_date,id,merge_into_id`. Raises csv.Error if a line is malformed."""
    for row in csv.DictReader(lines):
        if work := parse_work_id(convert_to_text(row.get("id"))):
            yield make_openalex_paper_id(work)


def _convert_to_object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _parse_authors(value: Any) -> list[str]:
    names = (
        convert_to_text(_convert_to_object(authorship.get("author")).get("display_name"))
        or convert_to_text(authorship.get("raw_author_name"))
        for authorship in convert_to_list(value)
        if isinstance(authorship, dict)
    )
    return [name for name in names if name]


def _drop_unknown_day(date: str) -> str:
    """Return the date without its month or day if these are 1, because OpenAlex also writes 1 for an unknown month or
    day."""
    if date.endswith("-01-01"):
        return date[:4]
    return date[:7] if date.endswith("-01") else date


def _parse_fields(data: Mapping[str, Any]) -> list[str]:
    topics = (
        _convert_to_object(_convert_to_object(topic).get("field")).get("display_name")
        for topic in convert_to_list(data.get("topics"))
    )
    return list(dict.fromkeys(name for topic in topics if (name := convert_to_text(topic))))


def _parse_identifiers(data: Mapping[str, Any], work: str) -> IdentifierRow:
    places = [_convert_to_object(data.get("primary_location")), _convert_to_object(data.get("best_oa_location"))]
    places += [_convert_to_object(location) for location in convert_to_list(data.get("locations"))]
    addresses = (convert_to_link(place.get(name)) for place in places for name in ("landing_page_url", "pdf_url"))
    ids = _convert_to_object(data.get("ids"))
    pmid, pmcid = convert_to_text(ids.get("pmid")), convert_to_text(ids.get("pmcid"))
    identifiers = collect_work_identifiers(
        work, convert_to_text(data.get("doi")), pmid, pmcid, filter(None, dict.fromkeys(addresses))
    )
    return IdentifierRow(**identifiers.model_dump())
