"""Download versions from a bucket into a directory with the same layout as if they had been built there.

    DIRECTORY/
    ├── segments/, versions/, shards/   as in any corpus; large files shared by versions are links to one file
    ├── incoming/PART/                  downloads in progress; one process downloads a part, and the others wait
    ├── exchanged                       versions that were downloaded from or published to a bucket
    └── place.lock                      lock held while files are moved into place or removed

Each file is verified while it is downloaded, so it need not be read again. Moves are atomic, and segments are moved
before the versions that list them: every version present is complete."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from assayer.errors import CorpusError
from index.disk_access import explain_disk_errors, link_or_copy
from index.hashing import compute_checksum
from index.object_storage.exchange_notes import ExchangeNotes
from index.object_storage.inventory import FileOfVersion, VersionInventory, build_file_object_name
from index.object_storage.storage import ObjectStorage
from index.shards.shard_store import ShardStore, is_sharded
from index.versions.manifest import MANIFEST, Manifest, read_manifest
from index.versions.verification_cache import VerificationCache
from index.versions.version_store import VersionStore

_DOWNLOADS = 8
"""Maximum number of concurrent downloads."""
_RANGE_BYTES = 16 * 2**20
"""Number of bytes per range request."""
_SPARE_BYTES = 64 * 2**20
_WHOLE = "whole"


class PullSummary(NamedTuple):
    version: str
    files: int
    """Number of files downloaded."""
    bytes: int
    linked: int
    """Number of files already present from an earlier version."""


class LocalCopy:
    def __init__(self, directory: Path, verification_cache: VerificationCache, keep: int = 2) -> None:
        """Create a local copy that keeps `keep` versions, in addition to versions in use."""
        self.directory = directory
        self._verification_cache = verification_cache
        self._keep = keep
        self._root = VersionStore(directory)

    def holds(self, version: str, parts: Sequence[int] | None = None) -> bool:
        """Return whether these parts of a version (None for all parts) are on this machine."""
        if not (self._root.get_version_path(version) / MANIFEST).is_file():
            return False
        if not is_sharded(self.directory):
            return True
        shards = ShardStore(self.directory)
        try:
            shard_entries = shards.read_manifest(version).shards
        except CorpusError:
            return False
        numbers = range(len(shard_entries)) if parts is None else parts
        stores = {number: VersionStore(shards.get_shard_path(number)) for number in numbers}
        return all(
            (store.get_version_path(shard_entries[number].version) / MANIFEST).is_file()
            for number, store in stores.items()
        )

    def find_newest_version(self, parts: Sequence[int] | None = None) -> str:
        """Return the most recent version that has these parts, or an empty string if there is none."""
        return next((version for version in self._list_versions_by_age() if self.holds(version, parts)), "")

    def pull(
        self,
        inventory: VersionInventory,
        storage: ObjectStorage,
        parts: Sequence[int] | None = None,
        is_current: bool = True,
        redownload: Set[str] = frozenset(),
    ) -> PullSummary:
        """Download a version, waiting while another process downloads the same version. Files from an interrupted
        download or another version are reused, except files whose checksums are in `redownload`. Raises CorpusError if
        the bucket cannot be read, a file in it is damaged, or the disk is full."""
        if not inventory.shard_count and is_sharded(self.directory):
            raise CorpusError(
                f"The corpus in {self.directory} is sharded, but the one in {storage.address} is not.",
                "Set another directory: ASSAYER_CORPUS__PATH.",
            )
        numbers = range(len(inventory.parts)) if parts is None else parts
        summaries = [PullSummary(inventory.version, 0, 0, 0)]
        with explain_disk_errors(self.directory):
            ExchangeNotes(self.directory, storage.address).add(inventory.version)
            # Files of the whole corpus first: another process may remove a shard version that no version of the
            # whole corpus names.
            if inventory.whole:
                summaries.append(self._pull_part(inventory, _WHOLE, inventory.whole, storage, redownload))
            for number in numbers:
                summaries.append(
                    self._pull_part(inventory, f"{number:02d}", inventory.parts[number], storage, redownload)
                )
            self.finish_pull(inventory.version, is_current)
        return PullSummary(
            inventory.version,
            sum(summary.files for summary in summaries),
            sum(summary.bytes for summary in summaries),
            sum(summary.linked for summary in summaries),
        )

    def finish_pull(self, version: str, is_current: bool = True) -> None:
        """Finish a download: make the version current if `is_current` is true, and remove old versions and leftovers in
        `folder`. Raises CorpusError if the directory cannot be written or a corpus is being built in it."""
        with explain_disk_errors(self.directory):
            with self._hold_placement_lock():
                if is_current:
                    self._root.set_current(version)
                os.utime(self._root.get_version_path(version))
                self._prune(version)
            for folder in (self.directory / "incoming").glob("*"):
                with suppress(BlockingIOError), _hold_lock(folder / "lock", fcntl.LOCK_NB):  # if locked, it is in use
                    _clear(folder)

    def repair(
        self, inventory: VersionInventory, storage: ObjectStorage, parts: Sequence[int] | None = None
    ) -> list[str]:
        """Check every file needed to read `parts` (None for all parts), and download again any that are missing or
        altered. Returns the paths of the downloaded files. Raises CorpusError as `pull` does."""
        damaged_files: list[FileOfVersion] = []
        with explain_disk_errors(self.directory):
            for file in inventory.list_files(parts):
                path = self.directory / file.path
                if not path.is_file() or path.stat().st_size != file.bytes or compute_checksum(path) != file.sha256:
                    damaged_files.append(file)
                    path.unlink(missing_ok=True)
        if damaged_files:
            self.pull(inventory, storage, parts, is_current=False, redownload={file.sha256 for file in damaged_files})
        return [file.path for file in damaged_files]

    def _pull_part(
        self,
        inventory: VersionInventory,
        name: str,
        files: Sequence[FileOfVersion],
        storage: ObjectStorage,
        redownload: Set[str],
    ) -> PullSummary:
        incoming_folder = self.directory / "incoming" / name
        incoming_folder.mkdir(parents=True, exist_ok=True)
        with _hold_lock(incoming_folder / "lock"):
            if all((self.directory / file.path).is_file() for file in files):
                return PullSummary(inventory.version, 0, 0, 0)  # another process has downloaded it in the meantime
            local_files = self._find_local_files(name)
            missing_files = {
                file.sha256: file for file in files if file.sha256 not in local_files or file.sha256 in redownload
            }
            self._require_room(missing_files.values(), incoming_folder, inventory)
            with ThreadPoolExecutor(_DOWNLOADS) as pool:
                for _ in pool.map(lambda item: _download(item, incoming_folder, storage), missing_files.values()):
                    pass
            local_files |= {sha256: incoming_folder / sha256 for sha256 in missing_files}
            with self._hold_placement_lock():
                placed_count = self._place(files, local_files)
                self._record_verified(inventory.version, name, missing_files.keys())
            _clear(incoming_folder)
        fetched_bytes = sum(file.bytes for file in missing_files.values())
        return PullSummary(inventory.version, len(missing_files), fetched_bytes, placed_count - len(missing_files))

    def _find_local_files(self, part: str) -> dict[str, Path]:
        """Return the part's files in all versions on this machine, keyed by checksum."""
        if part == _WHOLE:
            return {}
        is_sharded = (self.directory / "shards" / part).is_dir()
        store = VersionStore(self.directory / "shards" / part) if is_sharded else self._root
        paths: dict[str, Path] = {}
        for path in sorted((store.directory / "versions").glob(f"*/{MANIFEST}")):
            try:
                manifest = read_manifest(path.parent)
            except CorpusError:
                continue  # the manifest of the whole sharded corpus, or of another release
            places = [(path.parent, manifest.files)]
            places += [(store.get_segment_path(segment.name), segment.files) for segment in manifest.segments]
            for directory, files in places:
                for file in files:
                    local_path = directory / file.path
                    if local_path.is_file() and local_path.stat().st_size == file.bytes:
                        paths[file.sha256] = local_path
        return paths

    def _require_room(
        self, missing_files: Iterable[FileOfVersion], incoming_folder: Path, inventory: VersionInventory
    ) -> None:
        """Ensure that there is enough disk space. If necessary, old versions are removed, but no file of the version
        being downloaded. Raises CorpusError if there is still too little."""
        missing_bytes = sum(file.bytes for file in missing_files)
        needed_bytes = missing_bytes - sum(path.stat().st_size for path in incoming_folder.iterdir()) + _SPARE_BYTES
        if shutil.disk_usage(self.directory).free < needed_bytes:
            with self._hold_placement_lock():
                self._prune(inventory.version, keep=1, in_shards=bool(inventory.shard_count))
        free_bytes = shutil.disk_usage(self.directory).free
        if free_bytes < needed_bytes:
            raise CorpusError(
                f"Version {inventory.version} of the corpus needs {needed_bytes / 2**20:,.0f} MiB more in "
                f"{self.directory}, "
                f"but only {free_bytes / 2**20:,.0f} MiB are free.",
                "Free some space, or set another directory: ASSAYER_CORPUS__PATH.",
            )

    def _place(self, files: Sequence[FileOfVersion], local_files: dict[str, Path]) -> int:
        """Put files into their directories, in order, and return how many were put there."""
        folders: dict[PurePosixPath, list[FileOfVersion]] = defaultdict(list)
        for file in files:
            folders[_find_folder(file.path)].append(file)
        placed_count = 0
        for folder, folder_files in folders.items():
            place = self.directory / folder
            store = VersionStore(place.parents[1])
            place.parent.mkdir(parents=True, exist_ok=True)
            for leftover in place.parent.glob("unfinished-*"):
                shutil.rmtree(leftover)
            if place.is_dir():  # it belongs to a damaged version, or is shared with another version
                missing_files = [file for file in folder_files if not (self.directory / file.path).is_file()]
                for file in missing_files:
                    _link(local_files[file.sha256], self.directory / file.path)
                placed_count += len(missing_files)
                continue
            scratch = Path(tempfile.mkdtemp(prefix="unfinished-", dir=place.parent))
            try:
                for file in folder_files:
                    _link(local_files[file.sha256], scratch / PurePosixPath(file.path).relative_to(folder))
                if folder.parent.name == "segments":
                    store.add_segment(scratch, place.name)
                else:
                    store.add_version(scratch, place.name)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            placed_count += len(folder_files)
        return placed_count

    def _record_verified(self, version: str, part: str, fresh_digests: Set[str]) -> None:
        """Record for all processes on this machine that the part is verified."""
        if part == _WHOLE:
            return
        self._verification_cache.verify(*_open_part(self.directory, version, int(part)), fresh_digests)

    def _list_versions_by_age(self) -> list[str]:
        """Return the current version, then the other versions, most recent first."""
        paths = [path for path in (self.directory / "versions").glob("*") if (path / MANIFEST).is_file()]
        current = self._root.read_current_version()
        return [path.name for path in sorted(paths, key=lambda path: (path.name != current, -path.stat().st_mtime))]

    def _prune(self, version: str, keep: int | None = None, in_shards: bool = False) -> None:
        """Remove all versions except this one, the most recent ones and those in use. Must be called while holding
        `_hold_placement_lock`. `in_shards` is true if this version is sharded but no shard file is present yet."""
        kept_versions = [version, *self._list_versions_by_age()[: self._keep if keep is None else keep]]
        if in_shards or is_sharded(self.directory):
            ShardStore(self.directory).keep_only(kept_versions)
        else:
            self._root.keep_only(kept_versions)
            self._root.prune_segments()

    @contextmanager
    def _hold_placement_lock(self) -> Iterator[None]:
        """Hold the lock for putting files into place. Raises CorpusError if a corpus is being built in the
        directory."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with _hold_lock(self.directory / "place.lock"), self._root.hold_build_lock():
            yield


def verify_version(directory: Path, version: str, verification_cache: VerificationCache) -> None:
    """Verify all parts of a version on this machine. Raises CorpusError if one is missing or damaged."""
    count = len(ShardStore(directory).read_manifest(version).shards) if is_sharded(directory) else 1
    for number in range(count):
        verification_cache.verify(*_open_part(directory, version, number))


def _open_part(directory: Path, version: str, number: int) -> tuple[VersionStore, Manifest]:
    if not is_sharded(directory):
        store = VersionStore(directory)
        return store, read_manifest(store.get_version_path(version))
    shards = ShardStore(directory)
    store = VersionStore(shards.get_shard_path(number))
    return store, read_manifest(store.get_version_path(shards.read_manifest(version).shards[number].version))


def _find_folder(path: str) -> PurePosixPath:
    """Return the directory of a segment or version: `segments/NAME`, `shards/03/versions/NAME`."""
    parts = PurePosixPath(path).parts
    return PurePosixPath(*parts[: 4 if parts[0] == "shards" else 2])


def _download(file: FileOfVersion, folder: Path, storage: ObjectStorage) -> None:
    """Download a file to a path named after its checksum, resuming an interrupted download. Raises CorpusError if the
    stored file is damaged or cannot be read, and OSError if it cannot be written here."""
    place, partial = folder / file.sha256, folder / f"{file.sha256}.partial"
    if place.is_file():
        return
    is_resumed = partial.is_file()
    digest = hashlib.sha256()
    with partial.open("a+b") as out:
        out.seek(0)
        while resumed_chunk := out.read(2**20):
            digest.update(resumed_chunk)
        position = out.tell()
        while position < file.bytes:
            chunk = storage.read_range(
                build_file_object_name(file.sha256), position, min(position + _RANGE_BYTES, file.bytes)
            )
            if not chunk:
                break
            out.write(chunk)
            digest.update(chunk)
            position += len(chunk)
        out.flush()
        os.fsync(out.fileno())
    if position == file.bytes and digest.hexdigest() == file.sha256:
        partial.replace(place)
        return
    partial.unlink()
    if is_resumed:
        _download(file, folder, storage)
        return
    raise CorpusError(
        f"The corpus in {storage.address} is damaged: {build_file_object_name(file.sha256)} ({file.path}) has changed "
        "since it was written.",
        "Delete that object, then publish the version again: assayer corpus publish.",
    )


def _link(source: Path, target: Path) -> None:
    """Create a hard link, or a copy if the disk does not support links. The target appears completely or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.next")
    temporary.unlink(missing_ok=True)
    link_or_copy(source, temporary)
    temporary.replace(target)


def _clear(folder: Path) -> None:
    for leftover in folder.iterdir():
        if leftover.name != "lock":
            leftover.unlink()


@contextmanager
def _hold_lock(path: Path, flags: int = 0) -> Iterator[None]:
    """Hold a lock, waiting if another process holds it. It is released if its holder dies. With LOCK_NB, raises
    BlockingIOError instead of waiting."""
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX | flags)
        yield
