"""Publish a version built on this machine: upload its files, then their inventory, then the next publication."""

import datetime as dt
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from assayer.errors import CorpusError
from assayer.models import Frozen
from index.hashing import REBUILD_HINT
from index.object_storage.exchange_notes import ExchangeNotes
from index.object_storage.inventory import FileOfVersion, VersionInventory, build_file_object_name, take_inventory
from index.object_storage.local_copy import verify_version
from index.object_storage.publications import (
    Publication,
    PublicationLog,
    PublishedVersion,
    build_inventory_name,
    compute_inventory_digest,
)
from index.object_storage.storage import ObjectStorage, StorageUnavailable
from index.versions.verification_cache import VerificationCache

_LOG = logging.getLogger(__name__)
_UPLOADS = 8
"""Maximum number of concurrent uploads."""


class PublishOptions(Frozen):
    keep: int = 3
    """Number of versions to keep, including the new version."""
    grace: dt.timedelta = dt.timedelta(days=1)
    """Grace period: how long a retired version's files remain available to its readers, and files that belong to no
    version remain available to a publisher. Publishing must take at most half of it."""
    publisher: str = ""


class PublishSummary(Frozen):
    version: str
    number: int
    papers: int
    published: bool
    """False if the version was already current."""
    files: int
    """Number of files in the version."""
    uploaded: int
    uploaded_bytes: int
    removed: int
    """Number of files removed because no version needs them."""


class CorpusPublisher:
    def __init__(self, address: str, clock: Callable[[], dt.datetime], options: PublishOptions | None = None) -> None:
        self._storage = ObjectStorage(address)
        self.log = PublicationLog(self._storage)
        self._clock = clock
        self._options = options or PublishOptions()

    def read_newest_number(self) -> int:
        """Return the number of the newest publication, or 0 if there is none."""
        newest = self.log.read_newest()
        return newest.number if newest else 0

    def publish(
        self,
        directory: Path,
        verification_cache: VerificationCache,
        after: int | None = None,
        version: str | None = None,
    ) -> PublishSummary:
        """Publish a version, by default the current one. `after` is the number of the publication that it is based on,
        by default the newest; raises PublicationConflict if there is a later one. Raises CorpusError if the version is
        damaged or the upload fails; the next attempt reuses files that were already uploaded."""
        summary = self._publish(directory, verification_cache, after, version)
        with suppress(OSError):  # optional, because the bucket also lists the version for a while
            ExchangeNotes(directory, self._storage.address).add(summary.version)
        return summary

    def _publish(
        self, directory: Path, verification_cache: VerificationCache, after: int | None, version: str | None
    ) -> PublishSummary:
        newest = self.log.read_newest()
        number = newest.number if newest else 0
        if after is not None and number != after:
            raise self.log.build_conflict_error(number)
        inventory = take_inventory(directory, version)
        verify_version(directory, inventory.version, verification_cache)
        if newest is not None and newest.current.version == inventory.version:
            lost_files = self._find_lost_files(inventory, newest.current)
            if lost_files is not None:
                self._upload(directory, lost_files)
                return self._summarise(inventory, number, lost_files, self._remove_unneeded(newest), is_published=False)
        uploaded_files = self._upload(directory, self._select_files_to_upload(inventory, newest))
        digest = self.log.write_inventory(inventory)
        publication = self._build_next_publication(newest, inventory, digest)
        self.log.add(publication)
        removed_count = self._remove_unneeded(publication)
        self.log.remove_old()
        return self._summarise(inventory, publication.number, uploaded_files, removed_count)

    def _select_files_to_upload(self, inventory: VersionInventory, newest: Publication | None) -> list[FileOfVersion]:
        """Return the files to upload. A stored file that no kept version lists is uploaded again unless it is recent,
        because another process may be removing it."""
        wanted_files = {file.sha256: file for file in inventory.list_files()}
        published_sizes = _collect_sizes(self._read_known_inventories(newest.versions) or ()) if newest else {}
        missing_files = {name: file for name, file in wanted_files.items() if published_sizes.get(name) != file.bytes}
        if not missing_files:
            return []
        recent_from = self._clock() - self._options.grace / 2
        uploaded_sizes = {
            stored_object.name: stored_object.bytes
            for stored_object in self._storage.list_objects("files")
            if stored_object.modified is not None and stored_object.modified > recent_from
        }
        return [
            file
            for name, file in missing_files.items()
            if uploaded_sizes.get(build_file_object_name(name)) != file.bytes
        ]

    def _find_lost_files(self, inventory: VersionInventory, current: PublishedVersion) -> list[FileOfVersion] | None:
        """Return the current version's files that were removed or truncated, and rewrite its inventory if that is
        missing. Returns None if this machine cannot restore the version: either the lost inventory is from another
        build, or it lists lost files that only that build has."""
        published_inventory = inventory
        try:
            published_inventory = self.log.read_listed_inventory(current)
        except StorageUnavailable:
            raise
        except CorpusError as error:
            if compute_inventory_digest(inventory) != current.inventory:
                _LOG.warning("publishing the current version again: %s", error)
                return None
            self.log.write_inventory(inventory)
        uploaded_sizes = {
            stored_object.name: stored_object.bytes for stored_object in self._storage.list_objects("files")
        }
        wanted_files = {file.sha256: file for file in published_inventory.list_files()}
        lost_files = {
            name: file
            for name, file in wanted_files.items()
            if uploaded_sizes.get(build_file_object_name(name)) != file.bytes
        }
        local_files = {file.sha256: file for file in inventory.list_files()}
        return [local_files[name] for name in lost_files] if lost_files.keys() <= local_files.keys() else None

    def _upload(self, directory: Path, files: Sequence[FileOfVersion]) -> Sequence[FileOfVersion]:
        with ThreadPoolExecutor(_UPLOADS) as pool:
            for _ in pool.map(lambda file: self._upload_file(directory, file), files):
                pass
        return files

    def _upload_file(self, directory: Path, file: FileOfVersion) -> None:
        path = directory / file.path
        if not path.is_file() or path.stat().st_size != file.bytes:
            raise CorpusError(f"The corpus is damaged: {path} has changed since it was written.", REBUILD_HINT)
        self._storage.upload(path, build_file_object_name(file.sha256))

    def _build_next_publication(
        self, newest: Publication | None, inventory: VersionInventory, digest: str
    ) -> Publication:
        now, keep = self._clock(), self._options.keep
        new_version = PublishedVersion(
            version=inventory.version, inventory=digest, published=now, papers=inventory.papers
        )
        earlier_versions = (
            [version for version in newest.versions if version.version != new_version.version] if newest else []
        )
        newly_retired = [
            published_version.model_copy(update={"retired": now}) for published_version in earlier_versions[keep - 1 :]
        ]
        awaiting_removal = [
            published_version
            for published_version in (newest.retired if newest else ())
            if published_version.version != new_version.version
            and published_version.retired
            and now - published_version.retired < self._options.grace
        ]
        return Publication(
            number=(newest.number if newest else 0) + 1,
            versions=(new_version, *earlier_versions[: keep - 1]),
            retired=(*newly_retired, *awaiting_removal),
            publisher=self._options.publisher,
        )

    def _remove_unneeded(self, publication: Publication) -> int:
        """Remove files and inventories that belong to no version in the publication and are older than the grace
        period. Returns how many were removed."""
        listed_versions = (*publication.versions, *publication.retired)
        inventories = self._read_known_inventories(listed_versions)
        if inventories is None:
            return 0
        needed_names = {build_file_object_name(name) for name in _collect_sizes(inventories)}
        needed_names |= {
            build_inventory_name(published_version.version, published_version.inventory)
            for published_version in listed_versions
        }
        removable_before = self._clock() - self._options.grace
        unneeded_names = [
            stored_object.name
            for folder in ("files", "versions")
            for stored_object in self._storage.list_objects(folder)
            if stored_object.name not in needed_names
            and stored_object.modified is not None
            and stored_object.modified < removable_before
        ]
        if unneeded_names and self.read_newest_number() != publication.number:
            return 0  # another process has published in the meantime, and may need some of them
        for name in unneeded_names:
            self._storage.remove(name)
        return len(unneeded_names)

    def _read_known_inventories(self, versions: Sequence[PublishedVersion]) -> list[VersionInventory] | None:
        """Return the inventories of these versions; None if any inventory is lost, because it is then unknown which
        files are needed."""
        try:
            return self.log.read_inventories(versions)
        except CorpusError as error:
            _LOG.warning("unneeded files were not removed, because it is unknown which files are needed: %s", error)
            return None

    @staticmethod
    def _summarise(
        inventory: VersionInventory,
        number: int,
        uploaded_files: Sequence[FileOfVersion],
        removed_count: int,
        is_published: bool = True,
    ) -> PublishSummary:
        return PublishSummary(
            version=inventory.version,
            number=number,
            papers=inventory.papers,
            published=is_published,
            files=len({file.sha256 for file in inventory.list_files()}),
            uploaded=len(uploaded_files),
            uploaded_bytes=sum(file.bytes for file in uploaded_files),
            removed=removed_count,
        )


def _collect_sizes(inventories: Iterable[VersionInventory]) -> dict[str, int]:
    """Return the sizes of all files in the inventories, keyed by checksum."""
    return {file.sha256: file.bytes for inventory in inventories for file in inventory.list_files()}
