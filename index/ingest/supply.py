"""Where source files come from, as ingest sees it, and what it asks of the network."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal, Protocol

from assayer.errors import InputError
from index.ingest.intake import Source
from index.ingest.kinds import S2_KINDS, KindName
from index.ingest.places import Place

__all__ = ["Files", "Saved", "Supply", "Transport", "s2_files"]

Saved = Literal["whole", "refused"]


class Transport(Protocol):
    """The network behind its guards: addresses checked at every hop, sizes and times limited, failures that may pass
    asked again with patience. It raises AddressRefused, SourceUnavailable and SourceRefused."""

    async def read(self, url: str, key: str = "") -> bytes:
        """A small answer. `key` is shown to this host and no other."""
        ...

    async def save(self, url: str, path: Path, size: int | None = None) -> Saved:
        """A large file, of `size` bytes if that is known; what a broken attempt has left at the path is gone on with.
        `refused` when the address counts no longer."""
        ...


class Supply(Protocol):
    def at(self, source: Source) -> AbstractAsyncContextManager[str]:
        """An address at which the file can be read until the `async with` ends."""
        ...


class Files:
    """Files that lie where their addresses say."""

    @asynccontextmanager
    async def at(self, source: Source) -> AsyncIterator[str]:
        yield source.address

    @staticmethod
    def sources(addresses: Sequence[str], kind: KindName, layer: int = 0, *, deleted: bool = False) -> list[Source]:
        """Of files, and of what lies in folders, each once. Raises InputError when there is none."""
        found = list(dict.fromkeys(file for address in addresses for file in _files(Place.of(address))))
        if not found:
            raise InputError(f"There is no file at {', '.join(addresses)}.")
        return [
            Source(
                kind=kind,
                name=file.name if kind in S2_KINDS else str(file),  # a folder of datasets may be moved
                address=str(file),
                layer=layer,
                seal=_seal(file),
                deleted=deleted,
            )
            for file in found
        ]


def s2_files(address: str) -> list[Source]:
    """Of a folder that has one of files for each dataset, under Semantic Scholar's names. Raises InputError."""
    root = Place.of(address)
    present = [kind for kind in S2_KINDS if (root / kind).names()]
    if "papers" not in present:
        raise InputError(f"{root} has no folder `papers`.", f"Datasets that are read: {', '.join(S2_KINDS)}.")
    return [source for kind in present for source in Files.sources([str(root / kind)], kind)]


def _files(place: Place) -> list[Place]:
    names = place.names()
    if names:
        return [place / name for name in names if not name.startswith(".")]
    return [place] if place.exists() and not place.system.isdir(place.path) else []


def _seal(file: Place) -> str:
    told = file.system.info(file.path)
    return str(told.get("ETag") or f"{told.get('size')}-{told.get('mtime') or told.get('LastModified') or ''}")
