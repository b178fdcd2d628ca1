"""Source files: their kinds, where they are fetched from, and the interface to the network."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal, Protocol

from assayer.errors import InputError
from assayer.models import Frozen
from index.ingest.storage_path import StoragePath

__all__ = [
    "S2_KINDS",
    "DownloadOutcome",
    "IngestSource",
    "IngestTransport",
    "SourceAccess",
    "SourceKind",
    "StoredFiles",
    "s2_dataset_files",
]


SourceKind = Literal[
    "papers", "abstracts", "citations", "s2orc", "s2orc_v2", "embeddings-specter_v2", "openalex", "arxiv", "jsonl"
]  # fmt: skip
"""Also the names of the folders of stage one; all but the last three are those of Semantic Scholar's datasets."""

S2_KINDS: tuple[SourceKind, ...] = ("papers", "abstracts", "citations", "s2orc", "s2orc_v2", "embeddings-specter_v2")
DownloadOutcome = Literal["whole", "refused"]


class IngestSource(Frozen):
    """A file to ingest, wherever it comes from."""

    kind: SourceKind
    name: str
    """Unique within its kind, and stable between runs."""
    address: str = ""
    """Where it is read; empty where links expire."""
    layer: int = 0
    """Of rows with one key the highest layer counts."""
    seal: str = ""
    deleted: bool = False
    """Its lines are deletions."""


class IngestTransport(Protocol):
    """Downloads with checks: of the address at every hop, of size and time, with retries of failures that may pass.
    Raises AddressRefused, SourceUnavailable and SourceRefused."""

    async def read(self, url: str, key: str = "") -> bytes:
        """A small answer. `key` is sent to this host and no other."""
        ...

    async def save(self, url: str, path: Path, size: int | None = None) -> DownloadOutcome:
        """A large file, of `size` bytes if that is known; resumes what an interrupted attempt has left at the path.
        `refused` when the link has expired."""
        ...


class SourceAccess(Protocol):
    def fetched(self, source: IngestSource) -> AbstractAsyncContextManager[str]:
        """An address at which the file can be read until the `async with` ends."""
        ...


class StoredFiles:
    """Files that are read directly at their addresses."""

    @asynccontextmanager
    async def fetched(self, source: IngestSource) -> AsyncIterator[str]:
        yield source.address

    @staticmethod
    def sources(
        addresses: Sequence[str], kind: SourceKind, layer: int = 0, *, deleted: bool = False
    ) -> list[IngestSource]:
        """Of files, and of the files in folders, each once. Raises InputError when there is none."""
        found = list(dict.fromkeys(file for address in addresses for file in _files_at(StoragePath.parse(address))))
        if not found:
            raise InputError(f"There is no file at {', '.join(addresses)}.")
        return [
            IngestSource(
                kind=kind,
                name=file.name if kind in S2_KINDS else str(file),  # a folder of datasets may be moved
                address=str(file),
                layer=layer,
                seal=_seal(file),
                deleted=deleted,
            )
            for file in found
        ]


def s2_dataset_files(address: str) -> list[IngestSource]:
    """Of a folder with a folder of files for each dataset, under Semantic Scholar's names. Raises InputError."""
    root = StoragePath.parse(address)
    present = [kind for kind in S2_KINDS if (root / kind).child_names()]
    if "papers" not in present:
        raise InputError(f"{root} has no folder `papers`.", f"Datasets that are read: {', '.join(S2_KINDS)}.")
    return [source for kind in present for source in StoredFiles.sources([str(root / kind)], kind)]


def _files_at(place: StoragePath) -> list[StoragePath]:
    names = place.child_names()
    if names:
        return [place / name for name in names if not name.startswith(".")]
    return [place] if place.exists() and not place.filesystem.isdir(place.path) else []


def _seal(file: StoragePath) -> str:
    told = file.filesystem.info(file.path)
    return str(told.get("ETag") or f"{told.get('size')}-{told.get('mtime') or told.get('LastModified') or ''}")
