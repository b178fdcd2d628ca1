"""Archive of full texts: documents by digest, their parsed forms, and the result of the last download from each URL."""

import gzip
import hashlib
import logging
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import AwareDatetime, ValidationError

from assayer.errors import AddressRefused, DownloadFailed, DownloadRefused, FullTextError, Unreadable
from assayer.models import Frozen, UnreadableCause
from assayer.ports import Clock
from workers.file_storage import FileStorage
from workers.full_texts.parsed_paper import ParsedPaper
from workers.full_texts.settings import FullTextSettings

_LOG = logging.getLogger(__name__)

_FAILURE_CLASSES: dict[str, type[FullTextError]] = {
    "address": AddressRefused,
    "failed": DownloadFailed,
    "refused": DownloadRefused,
}
_PAPER_SUFFIX, _TEI_SUFFIX, _FAILURE_SUFFIX = ".json.gz", ".tei.xml.gz", ".failed.json"
_TRANSIENT_CAUSES: tuple[UnreadableCause, ...] = ("broken_parser", "time")
"""Causes that may not be the document's fault, so that parsing is retried soon."""
Record = TypeVar("Record", bound=Frozen)


class _Visit(Frozen):
    """Result of the last download from a URL."""

    url: str
    at: AwareDatetime
    sha256: str = ""
    """The downloaded document's digest; empty after a failure."""
    failure: Literal["", "address", "failed", "refused"] = ""
    message: str = ""
    hint: str = ""


class _ParseFailure(Frozen):
    at: AwareDatetime
    message: str
    hint: str
    cause: UnreadableCause


class FullTextArchive:
    """Archive of full texts in plain files. Each file is written atomically and named by a hash, so that any number of
    processes can share the archive.

    - `documents/…/SHA256.pdf`: a document.
    - `readings/…/SHA256/`: for each parser and version, the document's TEI and sections, or why parsing failed.
    - `visits/…/HASH.json`: the result of the last download from a URL.

    A damaged file counts as missing. A damaged document is deleted when it is read, so that it is downloaded again."""

    def __init__(self, storage: FileStorage, settings: FullTextSettings, clock: Clock) -> None:
        self._storage = storage
        self._settings = settings
        self._clock = clock

    async def find_document(self, url: str) -> str | None:
        """Return the digest of the document last downloaded from the URL; None if it should be downloaded now. If the
        last download failed, raises its error again, until it is time to retry."""
        visit = _parse_record(_Visit, await self._storage.read(_build_visit_name(url)))
        if visit is None or visit.url != url:
            return None
        age = self._clock.now() - visit.at
        if visit.sha256:
            is_fresh = age < self._settings.keep_found and await self._storage.exists(
                _build_document_name(visit.sha256)
            )
            return visit.sha256 if is_fresh else None
        failure = _FAILURE_CLASSES.get(visit.failure, DownloadFailed)
        wait = self._settings.retry_failed if failure is DownloadFailed else self._settings.retry_refused
        if age < wait:
            raise failure(visit.message, visit.hint)
        return None

    async def add_document(self, url: str, file: Path, sha256: str) -> None:
        if await self.read_document(sha256) is None:
            await self._storage.add_file(_build_document_name(sha256), file)
        await self._write(_build_visit_name(url), _Visit(url=url, at=self._clock.now(), sha256=sha256))

    async def add_download_failure(self, url: str, error: FullTextError) -> None:
        """Record that no document could be obtained from the URL."""
        failure = next((name for name, kind in _FAILURE_CLASSES.items() if isinstance(error, kind)), "failed")
        visit = {"url": url, "at": self._clock.now(), "failure": failure, "message": error.message, "hint": error.hint}
        await self._write(_build_visit_name(url), _Visit.model_validate(visit))

    async def read_document(self, sha256: str) -> bytes | None:
        """Return the document, or None if it is missing or damaged."""
        data = await self._storage.read(_build_document_name(sha256))
        if data is None or hashlib.sha256(data).hexdigest() == sha256:
            return data
        _LOG.warning("the document %s in the store is damaged; it is deleted so that it will be fetched again", sha256)
        with suppress(FullTextError):  # the store may be read-only
            await self._storage.delete(_build_document_name(sha256))
        return None

    async def list_parsed_names(self, sha256: str) -> list[str]:
        """Return the names of the parsers for which a parsed paper is stored."""
        files = await self._storage.list_names(_build_reading_folder(sha256))
        return [file.removesuffix(_PAPER_SUFFIX) for file in files if file.endswith(_PAPER_SUFFIX)]

    async def read_paper(self, sha256: str, name: str) -> ParsedPaper | None:
        return _parse_record(
            ParsedPaper, _decompress(await self._storage.read(f"{_build_reading_folder(sha256)}/{name}{_PAPER_SUFFIX}"))
        )

    async def read_tei(self, sha256: str, name: str) -> bytes | None:
        return _decompress(await self._storage.read(f"{_build_reading_folder(sha256)}/{name}{_TEI_SUFFIX}"))

    async def read_newest_tei(self, sha256: str) -> bytes | None:
        """Return the document's stored TEI from the latest GROBID version; None if there is none."""
        names = [
            name for name in await self._storage.list_names(_build_reading_folder(sha256)) if name.endswith(_TEI_SUFFIX)
        ]
        return (
            await self.read_tei(sha256, max(names, key=build_version_key).removesuffix(_TEI_SUFFIX)) if names else None
        )

    async def add_paper(self, sha256: str, name: str, paper: ParsedPaper) -> None:
        compressed = gzip.compress(paper.model_dump_json().encode(), 6)
        await self._storage.write(f"{_build_reading_folder(sha256)}/{name}{_PAPER_SUFFIX}", compressed)

    async def add_tei(self, sha256: str, name: str, tei: bytes) -> None:
        await self._storage.write(f"{_build_reading_folder(sha256)}/{name}{_TEI_SUFFIX}", gzip.compress(tei, 6))

    async def read_failure(self, sha256: str, name: str) -> Unreadable | None:
        """Return why the parser could not read the document; None if no failure is recorded or it is time to retry."""
        failure = _parse_record(
            _ParseFailure, await self._storage.read(f"{_build_reading_folder(sha256)}/{name}{_FAILURE_SUFFIX}")
        )
        if failure is None:
            return None
        wait = self._settings.retry_failed if failure.cause in _TRANSIENT_CAUSES else self._settings.retry_refused
        if self._clock.now() - failure.at >= wait:
            return None
        return Unreadable(failure.message, failure.hint, failure.cause)

    async def add_failure(self, sha256: str, name: str, error: Unreadable) -> None:
        failure = _ParseFailure(at=self._clock.now(), message=error.message, hint=error.hint, cause=error.cause)
        await self._write(f"{_build_reading_folder(sha256)}/{name}{_FAILURE_SUFFIX}", failure)

    async def _write(self, name: str, record: Frozen) -> None:
        await self._storage.write(name, record.model_dump_json().encode())


def build_version_key(name: str) -> list[str | int]:
    """Return the sort key for a parser's name, in which numbers are ordered by value: version 0.9 before 0.10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def _compute_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _build_visit_name(url: str) -> str:
    name = _compute_hash(url)
    return f"visits/{name[:2]}/{name}.json"


def _build_document_name(sha256: str) -> str:
    return f"documents/{sha256[:2]}/{sha256}.pdf"


def _build_reading_folder(sha256: str) -> str:
    return f"readings/{sha256[:2]}/{sha256}"


def _parse_record(kind: type[Record], data: bytes | None) -> Record | None:
    """Parse a record; return None if it is missing, damaged, or written by an incompatible version."""
    if data is None:
        return None
    try:
        return kind.model_validate_json(data)
    except ValidationError:
        return None


def _decompress(data: bytes | None) -> bytes | None:
    try:
        return None if data is None else gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return None
