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
from index.hashing import checksum
from index.object_storage.exchange_notes import ExchangeNotes
from index.object_storage.inventory import FileOfVersion, VersionInventory, object_name
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
    def __init__(self, directory: Path, verified: VerificationCache, keep: int = 2) -> None:
        """Create a local copy that keeps `keep` versions, in addition to versions in use."""
        self.directory = directory
        self._verified = verified
        self._keep = keep
        self._root = VersionStore(directory)

    def holds(self, version: str, parts: Sequence[int] | None = None) -> bool:
        """Return whether these parts of a version (None for all parts) are on this machine."""
        if not (self._root.version_path(version) / MANIFEST).is_file():
            return False
        if not is_sharded(self.directory):
            return True
        shards = ShardStore(self.directory)
        try:
            named = shards.read_manifest(version).shards
        except CorpusError:
            return False
        wanted = range(len(named)) if parts is None else parts
        stores = {number: VersionStore(shards.shard_path(number)) for number in wanted}
        return all((store.version_path(named[number].version) / MANIFEST).is_file() for number, store in stores.items())

    def newest(self, parts: Sequence[int] | None = None) -> str:
        """Return the most recent version that has these parts, or an empty string if there is none."""
        return next((item for item in self._by_age() if self.holds(item, parts)), "")

    def pull(
        self,
        inventory: VersionInventory,
        storage: ObjectStorage,
        parts: Sequence[int] | None = None,
        current: bool = True,
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
        wanted = range(len(inventory.parts)) if parts is None else parts
        done = [PullSummary(inventory.version, 0, 0, 0)]
        with explain_disk_errors(self.directory):
            ExchangeNotes(self.directory, storage.address).add(inventory.version)
            # Files of the whole corpus first: another process may remove a shard version that no version of the
            # whole corpus names.
            if inventory.whole:
                done.append(self._pull_part(inventory, _WHOLE, inventory.whole, storage, redownload))
            for number in wanted:
                done.append(self._pull_part(inventory, f"{number:02d}", inventory.parts[number], storage, redownload))
            self.settle(inventory.version, current)
        return PullSummary(
            inventory.version,
            sum(item.files for item in done),
            sum(item.bytes for item in done),
            sum(item.linked for item in done),
        )

    def settle(self, version: str, current: bool = True) -> None:
        """Finish a download: make the version current if `current` is true, and remove old versions and leftovers in
        `incoming`. Raises CorpusError if the directory cannot be written or a corpus is being built in it."""
        with explain_disk_errors(self.directory):
            with self._placement_lock():
                if current:
                    self._root.set_current(version)
                os.utime(self._root.version_path(version))
                self._prune(version)
            for incoming in (self.directory / "incoming").glob("*"):
                with suppress(BlockingIOError), _hold_lock(incoming / "lock", fcntl.LOCK_NB):  # if locked, it is in use
                    _clear(incoming)

    def repair(
        self, inventory: VersionInventory, storage: ObjectStorage, parts: Sequence[int] | None = None
    ) -> list[str]:
        """Check every file needed to read `parts` (None for all parts), and download again any that are missing or
        altered. Returns the paths of the downloaded files. Raises CorpusError as `pull` does."""
        damaged: list[FileOfVersion] = []
        with explain_disk_errors(self.directory):
            for file in inventory.files(parts):
                path = self.directory / file.path
                if not path.is_file() or path.stat().st_size != file.bytes or checksum(path) != file.sha256:
                    damaged.append(file)
                    path.unlink(missing_ok=True)
        if damaged:
            self.pull(inventory, storage, parts, current=False, redownload={item.sha256 for item in damaged})
        return [item.path for item in damaged]

    def _pull_part(
        self,
        inventory: VersionInventory,
        name: str,
        files: Sequence[FileOfVersion],
        storage: ObjectStorage,
        redownload: Set[str],
    ) -> PullSummary:
        incoming = self.directory / "incoming" / name
        incoming.mkdir(parents=True, exist_ok=True)
        with _hold_lock(incoming / "lock"):
            if all((self.directory / file.path).is_file() for file in files):
                return PullSummary(inventory.version, 0, 0, 0)  # another process has downloaded it in the meantime
            here = self._files_here(name)
            missing = {file.sha256: file for file in files if file.sha256 not in here or file.sha256 in redownload}
            self._require_room(missing.values(), incoming, inventory)
            with ThreadPoolExecutor(_DOWNLOADS) as pool:
                for _ in pool.map(lambda item: _download(item, incoming, storage), missing.values()):
                    pass
            here |= {item: incoming / item for item in missing}
            with self._placement_lock():
                placed = self._place(files, here)
                self._record_verified(inventory.version, name, missing.keys())
            _clear(incoming)
        fetched = sum(item.bytes for item in missing.values())
        return PullSummary(inventory.version, len(missing), fetched, placed - len(missing))

    def _files_here(self, part: str) -> dict[str, Path]:
        """Return the part's files in all versions on this machine, keyed by checksum."""
        if part == _WHOLE:
            return {}
        sharded = (self.directory / "shards" / part).is_dir()
        store = VersionStore(self.directory / "shards" / part) if sharded else self._root
        found: dict[str, Path] = {}
        for path in sorted((store.directory / "versions").glob(f"*/{MANIFEST}")):
            try:
                manifest = read_manifest(path.parent)
            except CorpusError:
                continue  # the manifest of the whole sharded corpus, or of another release
            places = [(path.parent, manifest.files)]
            places += [(store.segment_path(segment.name), segment.files) for segment in manifest.segments]
            for directory, files in places:
                for file in files:
                    held = directory / file.path
                    if held.is_file() and held.stat().st_size == file.bytes:
                        found[file.sha256] = held
        return found

    def _require_room(self, missing: Iterable[FileOfVersion], incoming: Path, inventory: VersionInventory) -> None:
        """Ensure that there is enough disk space. If necessary, old versions are removed, but no file of the version
        being downloaded. Raises CorpusError if there is still too little."""
        lacking = sum(item.bytes for item in missing)
        needed = lacking - sum(path.stat().st_size for path in incoming.iterdir()) + _SPARE_BYTES
        if shutil.disk_usage(self.directory).free < needed:
            with self._placement_lock():
                self._prune(inventory.version, keep=1, in_shards=bool(inventory.shard_count))
        free = shutil.disk_usage(self.directory).free
        if free < needed:
            raise CorpusError(
                f"Version {inventory.version} of the corpus needs {needed / 2**20:,.0f} MiB more in {self.directory}, "
                f"but only {free / 2**20:,.0f} MiB are free.",
                "Free some space, or set another directory: ASSAYER_CORPUS__PATH.",
            )

    def _place(self, files: Sequence[FileOfVersion], here: dict[str, Path]) -> int:
        """Put files into their directories, in order, and return how many were put there."""
        folders: dict[PurePosixPath, list[FileOfVersion]] = defaultdict(list)
        for file in files:
            folders[_folder_of(file.path)].append(file)
        placed = 0
        for folder, own in folders.items():
            place = self.directory / folder
            store = VersionStore(place.parents[1])
            place.parent.mkdir(parents=True, exist_ok=True)
            for left in place.parent.glob("unfinished-*"):
                shutil.rmtree(left)
            if place.is_dir():  # it belongs to a damaged version, or is shared with another version
                lacking = [item for item in own if not (self.directory / item.path).is_file()]
                for file in lacking:
                    _link(here[file.sha256], self.directory / file.path)
                placed += len(lacking)
                continue
            scratch = Path(tempfile.mkdtemp(prefix="unfinished-", dir=place.parent))
            try:
                for file in own:
                    _link(here[file.sha256], scratch / PurePosixPath(file.path).relative_to(folder))
                if folder.parent.name == "segments":
                    store.add_segment(scratch, place.name)
                else:
                    store.add_version(scratch, place.name)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            placed += len(own)
        return placed

    def _record_verified(self, version: str, part: str, fresh: Set[str]) -> None:
        """Record for all processes on this machine that the part is verified."""
        if part == _WHOLE:
            return
        self._verified.verify(*_part_of(self.directory, version, int(part)), fresh)

    def _by_age(self) -> list[str]:
        """Return the current version, then the other versions, most recent first."""
        paths = [path for path in (self.directory / "versions").glob("*") if (path / MANIFEST).is_file()]
        current = self._root.current_version()
        return [item.name for item in sorted(paths, key=lambda item: (item.name != current, -item.stat().st_mtime))]

    def _prune(self, version: str, keep: int | None = None, in_shards: bool = False) -> None:
        """Remove all versions except this one, the most recent ones and those in use. Must be called while holding
        `_placement_lock`. `in_shards` is true if this version is sharded but no shard file is present yet."""
        kept = [version, *self._by_age()[: self._keep if keep is None else keep]]
        if in_shards or is_sharded(self.directory):
            ShardStore(self.directory).keep_only(kept)
        else:
            self._root.keep_only(kept)
            self._root.prune_segments()

    @contextmanager
    def _placement_lock(self) -> Iterator[None]:
        """Hold the lock for putting files into place. Raises CorpusError if a corpus is being built in the
        directory."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with _hold_lock(self.directory / "place.lock"), self._root.build_lock():
            yield


def verify_version(directory: Path, version: str, verified: VerificationCache) -> None:
    """Verify all parts of a version on this machine. Raises CorpusError if one is missing or damaged."""
    count = len(ShardStore(directory).read_manifest(version).shards) if is_sharded(directory) else 1
    for number in range(count):
        verified.verify(*_part_of(directory, version, number))


def _part_of(directory: Path, version: str, number: int) -> tuple[VersionStore, Manifest]:
    if not is_sharded(directory):
        store = VersionStore(directory)
        return store, read_manifest(store.version_path(version))
    shards = ShardStore(directory)
    store = VersionStore(shards.shard_path(number))
    return store, read_manifest(store.version_path(shards.read_manifest(version).shards[number].version))


def _folder_of(path: str) -> PurePosixPath:
    """Return the directory of a segment or version: `segments/NAME`, `shards/03/versions/NAME`."""
    parts = PurePosixPath(path).parts
    return PurePosixPath(*parts[: 4 if parts[0] == "shards" else 2])


def _download(file: FileOfVersion, incoming: Path, storage: ObjectStorage) -> None:
    """Download a file to a path named after its checksum, resuming an interrupted download. Raises CorpusError if the
    stored file is damaged or cannot be read, and OSError if it cannot be written here."""
    place, partial = incoming / file.sha256, incoming / f"{file.sha256}.partial"
    if place.is_file():
        return
    resumed = partial.is_file()
    digest = hashlib.sha256()
    with partial.open("a+b") as out:
        out.seek(0)
        while known := out.read(2**20):
            digest.update(known)
        at = out.tell()
        while at < file.bytes:
            got = storage.read_range(object_name(file.sha256), at, min(at + _RANGE_BYTES, file.bytes))
            if not got:
                break
            out.write(got)
            digest.update(got)
            at += len(got)
        out.flush()
        os.fsync(out.fileno())
    if at == file.bytes and digest.hexdigest() == file.sha256:
        partial.replace(place)
        return
    partial.unlink()
    if resumed:
        _download(file, incoming, storage)
        return
    raise CorpusError(
        f"The corpus in {storage.address} is damaged: {object_name(file.sha256)} ({file.path}) has changed since it "
        "was written.",
        "Delete that object, then publish the version again: assayer corpus publish.",
    )


def _link(source: Path, target: Path) -> None:
    """Create a hard link, or a copy if the disk does not support links. The target appears completely or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.next")
    temporary.unlink(missing_ok=True)
    link_or_copy(source, temporary)
    temporary.replace(target)


def _clear(incoming: Path) -> None:
    for left in incoming.iterdir():
        if left.name != "lock":
            left.unlink()


@contextmanager
def _hold_lock(path: Path, waiting: int = 0) -> Iterator[None]:
    """Hold a lock, waiting if another process holds it. It is released if its holder dies. With LOCK_NB, raises
    BlockingIOError instead of waiting."""
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX | waiting)
        yield
