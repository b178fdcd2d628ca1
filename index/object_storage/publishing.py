"""Publishes a version that was built on this machine: its files, their list, and then the next number."""

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
from index.object_storage.inventory import FileOfVersion, VersionInventory, object_name, take_inventory
from index.object_storage.local_copy import verify_version
from index.object_storage.publications import (
    Publication,
    PublicationLog,
    PublishedVersion,
    inventory_digest,
    inventory_names,
)
from index.object_storage.storage import ObjectStorage, StorageUnavailable
from index.versions.verification_cache import VerificationCache

__all__ = ["CorpusPublisher", "PublishOptions", "PublishSummary"]

_LOG = logging.getLogger(__name__)
_UPLOADS = 8
"""At once."""


class PublishOptions(Frozen):
    keep: int = 3
    """Versions that stay, the new one included."""
    grace: dt.timedelta = dt.timedelta(days=1)
    """How long the files of a version that is not kept any more stay for who reads it, and files that belong to no
    version for who is publishing it. Nobody may take half of it to publish."""
    publisher: str = ""


class PublishSummary(Frozen):
    version: str
    number: int
    papers: int
    published: bool
    """False: it was the current version already."""
    files: int
    """In the version."""
    uploaded: int
    uploaded_bytes: int
    removed: int
    """Files that no version needs any more."""


class CorpusPublisher:
    def __init__(self, address: str, clock: Callable[[], dt.datetime], options: PublishOptions | None = None) -> None:
        self._storage = ObjectStorage(address)
        self.log = PublicationLog(self._storage)
        self._clock = clock
        self._options = options or PublishOptions()

    def number(self) -> int:
        """Of what is there; 0 where nothing is."""
        newest = self.log.newest()
        return newest.number if newest else 0

    def publish(
        self, directory: Path, verified: VerificationCache, after: int | None = None, version: str | None = None
    ) -> PublishSummary:
        """The current version by default. `after` is the number from which it was made: raises PublishedMeanwhile where
        there is a later one; by default the one that is there now. Raises CorpusError, also for a damaged version;
        what was uploaded until then is used by the next attempt."""
        summary = self._publish(directory, verified, after, version)
        with suppress(OSError):  # the log of the bucket says it too, for as long as it goes back
            ExchangeNotes(directory, self._storage.address).add(summary.version)
        return summary

    def _publish(
        self, directory: Path, verified: VerificationCache, after: int | None, version: str | None
    ) -> PublishSummary:
        newest = self.log.newest()
        number = newest.number if newest else 0
        if after is not None and number != after:
            raise self.log.meanwhile(number)
        inventory = take_inventory(directory, version)
        verify_version(directory, inventory.version, verified)
        if newest is not None and newest.current.version == inventory.version:
            lost = self._lost(inventory, newest.current)
            if lost is not None:
                self._upload(directory, lost)
                return self._summary(inventory, number, lost, self._remove_unneeded(newest), published=False)
        missing = self._upload(directory, self._missing(inventory, newest))
        digest = self.log.write_inventory(inventory)
        publication = self._next(newest, inventory, digest)
        self.log.add(publication)
        removed = self._remove_unneeded(publication)
        self.log.forget_old()
        return self._summary(inventory, publication.number, missing, removed)

    def _missing(self, inventory: VersionInventory, newest: Publication | None) -> list[FileOfVersion]:
        """What has to be uploaded. What no kept version names may be removed by somebody else, unless it is new."""
        wanted = {one.sha256: one for one in inventory.files()}
        kept = _needed(self._known_inventories(newest.versions) or ()) if newest else {}
        lacking = {name: one for name, one in wanted.items() if kept.get(name) != one.bytes}
        if not lacking:
            return []
        fresh = self._clock() - self._options.grace / 2
        there = {
            one.name: one.bytes
            for one in self._storage.objects("files")
            if one.modified is not None and one.modified > fresh
        }
        return [one for name, one in lacking.items() if there.get(object_name(name)) != one.bytes]

    def _lost(self, inventory: VersionInventory, current: PublishedVersion) -> list[FileOfVersion] | None:
        """Files of the current version that somebody has removed or cut; its list is written again where that was. None
        where it cannot be made whole from here: its list is that of another build, and is lost, or names files of
        that build which are."""
        listed = inventory
        try:
            listed = self.log.inventory_of(current)
        except StorageUnavailable:
            raise
        except CorpusError as error:
            if inventory_digest(inventory) != current.inventory:
                _LOG.warning("the current version is published once more: %s", error)
                return None
            self.log.write_inventory(inventory)
        there = {one.name: one.bytes for one in self._storage.objects("files")}
        wanted = {one.sha256: one for one in listed.files()}
        lost = {name: one for name, one in wanted.items() if there.get(object_name(name)) != one.bytes}
        here = {one.sha256: one for one in inventory.files()}
        return [here[name] for name in lost] if lost.keys() <= here.keys() else None

    def _upload(self, directory: Path, files: Sequence[FileOfVersion]) -> Sequence[FileOfVersion]:
        with ThreadPoolExecutor(_UPLOADS) as pool:
            for _ in pool.map(lambda one: self._upload_one(directory, one), files):
                pass
        return files

    def _upload_one(self, directory: Path, file: FileOfVersion) -> None:
        path = directory / file.path
        if not path.is_file() or path.stat().st_size != file.bytes:
            raise CorpusError(f"The corpus is damaged: {path} is not as it was written.", REBUILD_HINT)
        self._storage.upload(path, object_name(file.sha256))

    def _next(self, newest: Publication | None, inventory: VersionInventory, digest: str) -> Publication:
        now, keep = self._clock(), self._options.keep
        own = PublishedVersion(version=inventory.version, inventory=digest, published=now, papers=inventory.papers)
        before = [one for one in newest.versions if one.version != own.version] if newest else []
        gone = [one.model_copy(update={"retired": now}) for one in before[keep - 1 :]]
        waiting = [
            one
            for one in (newest.retired if newest else ())
            if one.version != own.version and one.retired and now - one.retired < self._options.grace
        ]
        return Publication(
            number=(newest.number if newest else 0) + 1,
            versions=(own, *before[: keep - 1]),
            retired=(*gone, *waiting),
            publisher=self._options.publisher,
        )

    def _remove_unneeded(self, publication: Publication) -> int:
        """Files and lists that no version of the publication has, and that are older than the time of grace."""
        named = (*publication.versions, *publication.retired)
        inventories = self._known_inventories(named)
        if inventories is None:
            return 0
        needed = {object_name(name) for name in _needed(inventories)}
        needed |= {name for one in named for name in inventory_names(one)}
        old = self._clock() - self._options.grace
        unneeded = [
            one.name
            for folder in ("files", "versions")
            for one in self._storage.objects(folder)
            if one.name not in needed and one.modified is not None and one.modified < old
        ]
        if unneeded and self.number() != publication.number:
            return 0  # somebody else published meanwhile, and may need some of them
        for name in unneeded:
            self._storage.remove(name)
        return len(unneeded)

    def _known_inventories(self, versions: Sequence[PublishedVersion]) -> list[VersionInventory] | None:
        """None where one of them is lost: then nobody knows what is needed."""
        try:
            return self.log.inventories(versions)
        except CorpusError as error:
            _LOG.warning("files that no version needs stay, as it is not known which: %s", error)
            return None

    @staticmethod
    def _summary(
        inventory: VersionInventory, number: int, sent: Sequence[FileOfVersion], removed: int, published: bool = True
    ) -> PublishSummary:
        return PublishSummary(
            version=inventory.version,
            number=number,
            papers=inventory.papers,
            published=published,
            files=len({one.sha256 for one in inventory.files()}),
            uploaded=len(sent),
            uploaded_bytes=sum(one.bytes for one in sent),
            removed=removed,
        )


def _needed(inventories: Iterable[VersionInventory]) -> dict[str, int]:
    """Sizes of files by their checksums."""
    return {file.sha256: file.bytes for one in inventories for file in one.files()}
