"""The OpenAlex snapshot: its manifest names every file of works; what it names no longer is gone."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from assayer.errors import InputError, SourceMalformed, SourceRefused
from index.ingest.intake import Source
from index.ingest.places import Place
from index.ingest.supply import Transport

__all__ = ["OpenAlexFiles", "is_web"]

_WORKS = "/works/"
_HINT = "Give the address of a manifest of works, as `…/data/jsonl/works/manifest.json`."


class _Meta(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    content_length: int
    record_count: int = 0


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    url: str
    meta: _Meta


class _Manifest(BaseModel):
    """`files` since 2026, `entries` before."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    date: str = ""
    files: tuple[_File, ...] = Field(validation_alias=AliasChoices("files", "entries"))


class OpenAlexFiles:
    """Files of works beside their manifest, on the web or in any file system."""

    def __init__(self, manifest: str, transport: Transport, incoming: Path) -> None:
        self._manifest = manifest
        self._transport = transport
        self._incoming = incoming
        self._sizes: Mapping[str, int] = {}
        self.date = ""

    async def sources(self) -> Sequence[Source]:
        """Raises InputError, SourceMalformed, and what the transport raises."""
        try:
            told = _Manifest.model_validate_json(await self._read())
        except ValidationError:
            raise SourceMalformed(f"{self._manifest} is no manifest of an OpenAlex snapshot.", _HINT) from None
        if any(_WORKS not in file.url or ".." in file.url for file in told.files):
            raise SourceMalformed(f"{self._manifest} names files that are not of works.", _HINT)
        home = self._manifest.rsplit("/", 1)[0]
        named = {file.url.split(_WORKS, 1)[1]: file.meta for file in told.files}
        self.date = told.date
        self._sizes = {name: meta.content_length for name, meta in named.items()}
        return [
            Source(
                kind="openalex",
                name=name,
                address=f"{home}/{name}",
                seal=f"{meta.content_length}-{meta.record_count}",
            )
            for name, meta in named.items()
        ]

    @asynccontextmanager
    async def at(self, source: Source) -> AsyncIterator[str]:
        if not is_web(source.address):
            yield source.address
            return
        path = self._incoming / source.name.replace("/", "-")
        if await self._transport.save(source.address, path, self._sizes.get(source.name)) == "refused":
            raise SourceRefused(f"{source.address} is not delivered.", "The snapshot may have changed: run it again.")
        yield str(path)
        path.unlink()

    async def _read(self) -> bytes:
        if is_web(self._manifest):
            return await self._transport.read(self._manifest)
        place = Place.of(self._manifest)
        if not place.exists():
            raise InputError(f"There is no file {place}.", _HINT)
        return place.read()


def is_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))
