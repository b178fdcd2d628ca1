"""Builds a version of a corpus: reads, embeds, indexes, measures and publishes."""

import asyncio
import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from assayer.errors import CorpusError
from assayer.models import Frozen
from assayer.ports import Embedder
from index.dense import EXACT_UP_TO
from index.format import FORMAT
from index.layout import REJECTED
from index.manifest import Manifest, RejectionCount, sums, write_manifest
from index.records import PaperRecord
from index.sources import Rejection, SourceFile, describe, harvest
from index.versions import Versions
from index.writing import Contents, OnProgress, write_version

__all__ = ["BuildOptions", "BuildSummary", "build_corpus"]


class BuildOptions(Frozen):
    exact_up_to: int = Field(default=EXACT_UP_TO, ge=0)
    """Rows that are searched exactly; beyond, an approximate index is built."""
    keep: int = Field(default=2, ge=1)
    """Versions that stay in the directory, the current one included."""


class BuildSummary(Frozen):
    directory: Path
    manifest: Manifest
    already_built: bool
    """Same sources, model and options as the version at hand: nothing was done."""
    rejections: tuple[Rejection, ...] = ()
    """Lines set aside just now; the manifest counts them in any case."""


async def build_corpus(
    sources: Sequence[Path],
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
) -> BuildSummary:
    """Publishes a new version, or leaves the directory's version as it is.

    Raises InputError for sources that cannot be used, CorpusError for a directory that cannot be written or
    that another process builds in, ConfigurationError when the embedder's model is missing.
    """
    versions = Versions(directory)
    build = _Build(versions, embedder, progress or _silent, options or BuildOptions())
    files = tuple([await asyncio.to_thread(describe, path) for path in sources])
    try:
        with versions.building():
            return await build.run(sources, files)
    except OSError as error:
        raise CorpusError(f"The corpus in {directory} cannot be written: {error.strerror or error}.") from error


def _silent(done: int, total: int) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class _Build:
    versions: Versions
    embedder: Embedder
    progress: OnProgress
    options: BuildOptions

    async def run(self, sources: Sequence[Path], files: tuple[SourceFile, ...]) -> BuildSummary:
        at_hand = await asyncio.to_thread(self.versions.intact)
        if at_hand is not None and self._made_of(at_hand, files):
            return self._summary(at_hand, already_built=True)
        found = await asyncio.to_thread(harvest, sources)
        records = sorted(found.records.values(), key=_by_date)
        version = self._version(records)
        manifest = await asyncio.to_thread(self.versions.intact, version)
        if manifest is None:
            manifest = await self._write(version, records, found.rejections, files)
        else:
            self.versions.point_at(version)
        self.versions.prune(self.options.keep)
        return self._summary(manifest, already_built=False, rejections=found.rejections)

    def _made_of(self, manifest: Manifest, files: tuple[SourceFile, ...]) -> bool:
        made_of = (manifest.sources, manifest.embedder, manifest.exact_up_to)
        return made_of == (files, self.embedder.name, self.options.exact_up_to)

    def _version(self, records: Sequence[PaperRecord]) -> str:
        """Hash of everything that determines an answer."""
        digest = hashlib.sha256(json.dumps([FORMAT, self.embedder.name, self.options.exact_up_to]).encode())
        for record in records:
            digest.update(record.model_dump_json().encode() + b"\n")
        return digest.hexdigest()[:16]

    async def _write(
        self,
        version: str,
        records: Sequence[PaperRecord],
        rejections: Sequence[Rejection],
        files: tuple[SourceFile, ...],
    ) -> Manifest:
        with self.versions.unfinished() as directory:
            lines = (rejection.model_dump_json() + "\n" for rejection in rejections)
            (directory / REJECTED).write_text("".join(lines), "utf-8")
            contents = await write_version(records, directory, self.embedder, self.options.exact_up_to, self.progress)
            manifest = self._manifest(version, records, rejections, files, contents, directory)
            write_manifest(manifest, directory)
            await asyncio.to_thread(self.versions.publish, directory, version)
        return manifest

    def _manifest(
        self,
        version: str,
        records: Sequence[PaperRecord],
        rejections: Sequence[Rejection],
        files: tuple[SourceFile, ...],
        contents: Contents,
        directory: Path,
    ) -> Manifest:
        dates = [record.publication_date for record in records if record.publication_date]
        reasons = Counter(rejection.reason for rejection in rejections).most_common()
        return Manifest(
            version=version,
            embedder=self.embedder.name,
            dimensions=self.embedder.dimensions,
            papers=len(records),
            dated=len(dates),
            earliest=min(dates, default=None),
            latest=max(dates, default=None),
            full_texts=sum(bool(record.sections) for record in records),
            with_references=sum(record.references is not None for record in records),
            passages=contents.passages,
            exact_up_to=self.options.exact_up_to,
            paper_index=contents.paper_index,
            passage_index=contents.passage_index,
            fit=contents.fit,
            sources=files,
            rejected=tuple(RejectionCount(reason=reason, count=count) for reason, count in reasons),
            files=sums(directory),
        )

    def _summary(self, manifest: Manifest, already_built: bool, rejections: Sequence[Rejection] = ()) -> BuildSummary:
        return BuildSummary(
            directory=self.versions.directory,
            manifest=manifest,
            already_built=already_built,
            rejections=tuple(rejections),
        )


def _by_date(record: PaperRecord) -> tuple[dt.date, str]:
    """Undated last: `date.max` can be no publication's."""
    return record.publication_date or dt.date.max, record.id
