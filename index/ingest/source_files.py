"""Source files to ingest: their kinds, their origins, and the interface for downloading them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal, Protocol

from assayer.errors import InputError
from assayer.models import Frozen
from index.ingest.storage_path import StoragePath

SourceKind = Literal[
    "papers", "abstracts", "citations", "s2orc", "s2orc_v2", "embeddings-specter_v2", "openalex", "arxiv", "jsonl"
]  # fmt: skip
"""Kinds of source files, which also name folders in stage one. All but the last three are Semantic Scholar datasets."""

S2_KINDS: tuple[SourceKind, ...] = ("papers", "abstracts", "citations", "s2orc", "s2orc_v2", "embeddings-specter_v2")
DownloadOutcome = Literal["whole", "refused"]


class IngestSource(Frozen):
    """Source to ingest: a file, or a window of a harvest."""

    kind: SourceKind
    name: str
    """Name of the source, unique within its kind and the same in every run."""
    address: str = ""
    """The file's address; empty if it has only links that expire."""
    layer: int = 0
    """Layer of the source. If rows share a key, the one in the highest layer is current."""
    seal: str = ""
    deleted: bool = False
    """True if the file's lines are deletions."""


class IngestTransport(Protocol):
    """Downloader that checks addresses at every redirect, limits size and time, and retries transient failures. Its
    methods raise AddressRefused for a forbidden address, SourceUnavailable if the source cannot be reached, and
    SourceRefused if it refuses the request."""

    async def read(self, url: str, key: str = "") -> bytes:
        """Read a small response. `key` is sent only to the host of `url`."""
        ...

    async def save(self, url: str, path: Path, size: int | None = None) -> DownloadOutcome:
        """Save a large file, of `size` bytes if known, resuming from a partial file at `path`. Return `refused` if the
        link has expired."""
        ...


class SourceAccess(Protocol):
    def open_source(self, source: IngestSource) -> AbstractAsyncContextManager[str]:
        """Return a context manager that yields an address from which the file can be read while it is open."""
        ...


class StoredFiles:
    """Files that are read directly at their addresses."""

    @asynccontextmanager
    async def open_source(self, source: IngestSource) -> AsyncIterator[str]:
        yield source.address

    @staticmethod
    def list_sources(
        addresses: Sequence[str], kind: SourceKind, layer: int = 0, *, deleted: bool = False
    ) -> list[IngestSource]:
        """Return a source for each distinct file, including the files in folders. Raises InputError if there are
        none."""
        files = list(
            dict.fromkeys(file for address in addresses for file in _list_files_at(StoragePath.parse(address)))
        )
        if not files:
            raise InputError(f"There is no file at {', '.join(addresses)}.")
        return [
            IngestSource(
                kind=kind,
                name=file.name if kind in S2_KINDS else str(file),  # a folder of datasets may be moved
                address=str(file),
                layer=layer,
                seal=_compute_seal(file),
                deleted=deleted,
            )
            for file in files
        ]


def list_s2_dataset_files(address: str) -> list[IngestSource]:
    """Return the sources in a folder that has one subfolder per Semantic Scholar dataset, named after the dataset.
    Raises InputError if there are no papers."""
    root = StoragePath.parse(address)
    kinds = [kind for kind in S2_KINDS if (root / kind).list_child_names()]
    if "papers" not in kinds:
        raise InputError(
            f"{root} has no folder `papers` with files.",
            f"Pass a folder with one folder per dataset: papers and, optionally, {', '.join(S2_KINDS[1:])}.",
        )
    return [source for kind in kinds for source in StoredFiles.list_sources([str(root / kind)], kind)]


def _list_files_at(place: StoragePath) -> list[StoragePath]:
    names = place.list_child_names()
    if names:
        return [place / name for name in names if not name.startswith(".")]
    return [place] if place.exists() and not place.filesystem.isdir(place.path) else []


def _compute_seal(file: StoragePath) -> str:
    status = file.filesystem.info(file.path)
    return str(status.get("ETag") or f"{status.get('size')}-{status.get('mtime') or status.get('LastModified') or ''}")
