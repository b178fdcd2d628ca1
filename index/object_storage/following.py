"""Follow a bucket's publications: searches use the newest version, which is downloaded to this machine first."""

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from assayer.errors import CorpusError
from index.object_storage.inventory import VersionInventory
from index.object_storage.local_copy import LocalCopy, PullSummary
from index.object_storage.publications import Publication, PublicationLog
from index.object_storage.storage import ObjectStorage
from index.versions.verification_cache import VerificationCache

_LOG = logging.getLogger(__name__)


class FollowedBucket:
    """Checks a bucket for new publications periodically, in the background."""

    def __init__(self, address: str, look_seconds: float = 30.0) -> None:
        """Open the bucket. Raises ConfigurationError if no installed library supports its URL."""
        self.storage = ObjectStorage(address)
        self.log = PublicationLog(self.storage)
        self._check_seconds = look_seconds
        self._lock = threading.Lock()
        self._is_checking = False
        self._last_check: float | None = None
        self._newest: Publication | None = None
        self._last_problem = ""
        """Problem that the last check found; kept so that each problem is logged only once."""

    def get_newest_known(self) -> Publication | None:
        """Return the newest known publication without blocking, and start a background check if the last one is too
        old."""
        with self._lock:
            is_check_due = self._last_check is None or time.monotonic() - self._last_check >= self._check_seconds
            if is_check_due and not self._is_checking:
                self._is_checking = True
                threading.Thread(target=self._check_in_background, name="corpus bucket", daemon=True).start()
            return self._newest

    def fetch_latest(self) -> Publication:
        """Check for the newest publication and return it. Raises CorpusError if there is none or the check fails."""
        newest = self.log.read_newest()
        if newest is None:
            raise self.log.build_not_published_error()
        with self._lock:
            self._newest, self._last_check, self._last_problem = newest, time.monotonic(), ""
        return newest

    def read_inventory(self, version: str) -> VersionInventory:
        """Return a version's inventory. Raises CorpusError if it cannot be read or the version no longer exists."""
        return self.log.read_inventory(version)

    def _check_in_background(self) -> None:
        try:
            self.fetch_latest()
        except CorpusError as error:
            if str(error) != self._last_problem:
                self._last_problem = str(error)
                _LOG.warning("cannot check for a newer version of the corpus: %s", error)
        finally:
            with self._lock:
                self._last_check, self._is_checking = time.monotonic(), False


class BucketOrigin:
    """Bucket from which corpus versions are downloaded when needed. Implements `index.corpus_origin.CorpusOrigin` for
    the shards in `parts`; None means the whole corpus."""

    def __init__(
        self,
        bucket: FollowedBucket,
        directory: Path,
        verification_cache: VerificationCache,
        parts: Sequence[int] | None = None,
        keep: int = 2,
    ) -> None:
        self.bucket = bucket
        self.copy = LocalCopy(directory, verification_cache, keep)
        self._parts = parts
        self._settled_versions: set[str] = set()

    def get_newest_version(self) -> str:
        publication = self.bucket.get_newest_known()
        return publication.current.version if publication else self.copy.find_newest_version(self._parts)

    def check_for_newest(self) -> None:
        self.bucket.fetch_latest()

    def fetch(self, version: str) -> str:
        if not version:
            try:
                version = self.bucket.fetch_latest().current.version
            except CorpusError as error:
                version = self.copy.find_newest_version(self._parts)
                if not version:
                    raise
                _LOG.warning(
                    "the newest corpus version is unavailable; using local version %s: %s",
                    version,
                    error,
                )
        if not self.copy.holds(version, self._parts):
            self.pull(version)
        elif version not in self._settled_versions:
            with suppress(CorpusError):  # another process builds in this directory, or it cannot be written
                self.copy.finish_pull(version, self._is_newest(version))
        self._settled_versions.add(version)
        return version

    def pull(self, version: str) -> PullSummary:
        """Download a version. Raises CorpusError if it cannot be downloaded."""
        inventory = self.bucket.read_inventory(version)
        return self.copy.pull(inventory, self.bucket.storage, self._parts, self._is_newest(version))

    def _is_newest(self, version: str) -> bool:
        publication = self.bucket.get_newest_known()
        return publication is not None and publication.current.version == version

    def repair(self, version: str) -> bool:
        damaged_files = self.copy.repair(self.bucket.read_inventory(version), self.bucket.storage, self._parts)
        if damaged_files:
            _LOG.warning("downloaded damaged corpus files again: %s", ", ".join(damaged_files))
        return bool(damaged_files)
