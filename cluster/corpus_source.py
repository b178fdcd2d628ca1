"""Access to the configured corpus: a local directory, or the newest version in a bucket."""

import datetime as dt
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from assayer.errors import ConfigurationError, CorpusError
from assayer.ports import Embedder
from cluster.settings import Settings
from index import Corpus, ShardStore, VersionStore, is_sharded, read_manifest
from index.corpus_origin import CorpusOrigin, FolderOrigin, open_or_download
from index.object_storage.exchange_notes import ExchangeNotes
from index.object_storage.following import BucketOrigin, FollowedBucket
from index.object_storage.local_copy import LocalCopy, PullSummary
from index.object_storage.publications import Publication
from index.object_storage.publishing import CorpusPublisher, PublishOptions, PublishSummary
from index.version_cache import CorpusVersionCache
from index.versions.manifest import CorpusChanges
from index.versions.verification_cache import VerificationCache


def get_followed_bucket(settings: Settings) -> FollowedBucket | None:
    """Return the bucket from which new versions are pulled; None if no source is set. Raises ConfigurationError if its
    settings are invalid."""
    source = settings.corpus.source
    return None if source is None else FollowedBucket(source, settings.corpus.look_seconds)


def create_bucket_origin(
    bucket: FollowedBucket, settings: Settings, verified: VerificationCache, parts: Sequence[int] | None = None
) -> BucketOrigin:
    return BucketOrigin(bucket, settings.corpus_path, verified, parts, settings.corpus.pulled_versions)


def create_corpus_origin(settings: Settings, verified: VerificationCache) -> CorpusOrigin:
    """Return where the configured corpus comes from. Raises ConfigurationError if its settings are invalid."""
    bucket = get_followed_bucket(settings)
    return FolderOrigin(settings.corpus_path) if bucket is None else create_bucket_origin(bucket, settings, verified)


def create_corpus_version_cache(settings: Settings, embedder: Embedder) -> CorpusVersionCache:
    """Return a cache that opens corpus versions on demand. Raises ConfigurationError if the settings are invalid."""
    verified = VerificationCache(settings.verified_path)
    origin = create_corpus_origin(settings, verified)
    return CorpusVersionCache(settings.corpus_path, embedder, verified, device=settings.corpus.device, origin=origin)


def open_corpus(settings: Settings, embedder: Embedder) -> Corpus:
    """Open the newest version, after pulling it if a source is configured. Raises CorpusError if there is no usable
    version, ConfigurationError if the settings are invalid."""
    verified = VerificationCache(settings.verified_path)

    def open_version(version: str) -> Corpus:
        return Corpus.open(settings.corpus_path, embedder, version or None, verified)

    return open_or_download(create_corpus_origin(settings, verified), "", open_version)


class CorpusRelease:
    """Publishes the result of a build or update to the URL from which readers pull it. If two releases start from the
    same version, the second one to publish is refused, so that neither overwrites the other."""

    def __init__(self, settings: Settings, keep: int = 3, address: str | None = None) -> None:
        """Create a release; `address` overrides the configured source. Raises ConfigurationError if neither is set."""
        source = address or settings.corpus.source
        if source is None:
            raise ConfigurationError(
                "There is no address to publish the corpus to.",
                "Pass --to s3://bucket/corpus, or set ASSAYER_CORPUS__SOURCE.",
            )
        self.address = source
        self._directory = settings.corpus_path
        self._verification_cache = VerificationCache(settings.verified_path)
        self._keep = keep
        grace = dt.timedelta(hours=settings.corpus.grace_hours)
        options = PublishOptions(keep=keep, grace=grace, publisher=f"{socket.gethostname()}, process {os.getpid()}")
        self._publisher = CorpusPublisher(source, lambda: dt.datetime.now(dt.UTC), options)
        self._expected_number: int | None = None

    @classmethod
    def from_settings(cls, settings: Settings, keep: int = 3) -> "CorpusRelease | None":
        """Return a release for the configured source, or None if no source is set."""
        return None if settings.corpus.source is None else cls(settings, keep)

    def begin(self) -> None:
        """Record the number of the newest publication, before a build from scratch. Raises CorpusError if it cannot be
        read."""
        self._expected_number = self._publisher.read_newest_number()

    def begin_update(self, *, repeats: bool = False) -> PullSummary | None:
        """Pull the newest published version for updating, unless the local version is an update of it. Returns None if
        nothing was pulled. A local version that was never published and is not based on the published one is discarded
        if `repeats` is set; otherwise, it raises CorpusError."""
        newest = self._publisher.log.read_newest()
        self._expected_number = newest.number if newest else 0
        if newest is None:
            return None
        local = VersionStore(self._directory).read_current_version()
        if local and local != newest.current.version:
            if self._is_based_on(newest.current.version):
                return None
            if not (repeats or self._is_published(local, newest)):
                raise CorpusError(
                    f"Version {local} in {self._directory} was built here and never published. In the meantime, "
                    f"version {newest.current.version} was published in {self.address}.",
                    "To replace it with yours, run assayer corpus publish. Otherwise, set ASSAYER_CORPUS__PATH to an "
                    "empty directory.",
                )
        inventory = self._publisher.log.read_listed_inventory(newest.current)
        return LocalCopy(self._directory, self._verification_cache, self._keep).pull(
            inventory, self._publisher.log.storage
        )

    def publish(self, *, force: bool = False) -> PublishSummary:
        """Publish the local version. Unless `begin` or `begin_update` was called, a version that was published earlier
        and has since been replaced is refused, except with `force`. Raises CorpusError, or its subclass
        PublicationConflict if another version has been published since this release began."""
        if self._expected_number is None and not force:
            self._refuse_older()
        summary = self._publisher.publish(self._directory, self._verification_cache, self._expected_number)
        self._expected_number = summary.number
        return summary

    def _refuse_older(self) -> None:
        """Raise CorpusError if the local version was published earlier and has since been replaced."""
        newest, local = self._publisher.log.read_newest(), VersionStore(self._directory).read_current_version()
        if newest is None or not local or local == newest.current.version:
            return
        if self._is_published(local, newest) and not self._is_based_on(newest.current.version):
            raise CorpusError(
                f"Version {local} in {self._directory} was already published in {self.address} and replaced by version "
                f"{newest.current.version}: publishing it again would take every reader back to it.",
                "To continue from the published version, run assayer corpus pull. "
                "To overwrite it deliberately, run assayer corpus publish --force.",
            )

    def _is_published(self, version: str, newest: Publication) -> bool:
        log = self._publisher.log
        is_known = newest.find(version) is not None or version in ExchangeNotes(self._directory, log.storage.address)
        return is_known or log.is_listed(version)

    def _is_based_on(self, version: str) -> bool:
        """Return whether the local version is an update of `version`, directly or through other updates."""
        changes = _read_changes(self._directory, None)
        while changes is not None:
            if changes.before == version:
                return True
            try:
                changes = _read_changes(self._directory, changes.before)
            except CorpusError:
                return False
        return False


def _read_changes(directory: Path, version: str | None) -> CorpusChanges | None:
    if is_sharded(directory):
        return ShardStore(directory).read_manifest(version).changes
    versions = VersionStore(directory)
    return read_manifest(
        versions.find_current_path() if version is None else versions.get_version_path(version)
    ).changes
