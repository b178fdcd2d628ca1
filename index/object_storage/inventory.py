"""List a version's files by checksum, as stored in a bucket."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field, field_validator

from assayer.models import Frozen
from index.hashing import FileChecksum, compute_checksum
from index.shards.shard_store import ShardStore, is_sharded
from index.versions.manifest import MANIFEST, SEAL_FILE, read_manifest
from index.versions.version_store import VersionStore


class FileOfVersion(Frozen):
    path: str
    """Path relative to the corpus directory."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)

    @field_validator("path")
    @classmethod
    def _check_path(cls, value: str) -> str:
        path = PurePosixPath(value)
        if (
            path.is_absolute()
            or ".." in path.parts
            or path.parts[:1] not in (("versions",), ("segments",), ("shards",))
        ):
            raise ValueError("is not a path inside a corpus")
        return value


class VersionInventory(Frozen):
    format: Literal["inventory-1"] = "inventory-1"
    version: str = Field(pattern=r"^[0-9a-f]{8,64}$")
    papers: int
    shard_count: int
    """Number of shards; 0 for an unsharded corpus."""
    whole: tuple[FileOfVersion, ...]
    """Files of a sharded corpus that every reader needs."""
    parts: tuple[tuple[FileOfVersion, ...], ...]
    """Files of each shard, or of the unsharded corpus."""

    def list_files(self, parts: Iterable[int] | None = None) -> Iterator[FileOfVersion]:
        """Yield the files of the requested parts (None for all parts) and the files that every reader needs."""
        yield from self.whole
        for number in range(len(self.parts)) if parts is None else parts:
            yield from self.parts[number]

    def count_bytes(self, parts: Iterable[int] | None = None) -> int:
        return sum({file.sha256: file.bytes for file in self.list_files(parts)}.values())


def build_file_object_name(sha256: str) -> str:
    return f"files/{sha256[:2]}/{sha256}"


def take_inventory(directory: Path, version: str | None = None) -> VersionInventory:
    """Return the inventory of a version on this machine, by default the current one. Raises CorpusError if it is
    missing or damaged."""
    if not is_sharded(directory):
        versions = VersionStore(directory)
        version = version or versions.find_current_path().name
        papers, files = _list_files_of_part(versions, version, "")
        return VersionInventory(version=version, papers=papers, shard_count=0, whole=(), parts=(files,))
    shards = ShardStore(directory)
    manifest = shards.read_manifest(version)
    parts = [
        _list_files_of_part(VersionStore(shards.get_shard_path(number)), shard.version, f"shards/{number:02d}/")[1]
        for number, shard in enumerate(manifest.shards)
    ]
    return VersionInventory(
        version=manifest.version,
        papers=manifest.papers,
        shard_count=len(parts),
        whole=tuple(
            _list_sealed_files(shards.versions.get_version_path(manifest.version), f"versions/{manifest.version}")
        ),
        parts=tuple(parts),
    )


def _list_files_of_part(versions: VersionStore, version: str, prefix: str) -> tuple[int, tuple[FileOfVersion, ...]]:
    """Return the number of papers in a part, and its files. The segments come first and the manifest last, because a
    part without a manifest is ignored."""
    path = versions.get_version_path(version)
    manifest = read_manifest(path)
    files = [
        *(
            file
            for segment in manifest.segments
            for file in _add_prefix(f"{prefix}segments/{segment.name}", segment.files)
        ),
        *_add_prefix(f"{prefix}versions/{version}", [file for file in manifest.files if file.path != SEAL_FILE]),
        *_list_sealed_files(path, f"{prefix}versions/{version}"),
    ]
    return manifest.papers, tuple(files)


def _list_sealed_files(directory: Path, prefix: str) -> list[FileOfVersion]:
    """Return the manifest and its seal file. The manifest lists neither of them."""
    return [
        FileOfVersion(
            path=f"{prefix}/{name}", sha256=compute_checksum(directory / name), bytes=(directory / name).stat().st_size
        )
        for name in (SEAL_FILE, MANIFEST)
    ]


def _add_prefix(prefix: str, files: Sequence[FileChecksum]) -> list[FileOfVersion]:
    return [FileOfVersion(path=f"{prefix}/{file.path}", sha256=file.sha256, bytes=file.bytes) for file in files]
