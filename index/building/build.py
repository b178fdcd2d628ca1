"""Build a corpus from scratch: read, embed, index, measure and publish."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder, LexicalEmbedder
from index.building.gathered_vectors import RecordVectors
from index.building.segment_writer import sort_papers
from index.building.text_embedding import OnProgress, TextEmbedding, ignore_progress
from index.building.version_builder import BuildOptions, VersionBuilder, VersionPlan
from index.disk_access import explain_disk_errors
from index.records.record_sources import RecordReader, RecordSource, RejectedLine, describe_source
from index.segments.gpus import open_gpus
from index.versions.manifest import Manifest
from index.versions.version_store import VersionStore


class BuildSummary(Frozen):
    directory: Path
    manifest: Manifest
    already_built: bool
    """True if nothing was done because the current version was built from the same sources with the same settings."""
    rejections: tuple[RejectedLine, ...] = ()
    """Lines that this build rejected. The manifest contains only their counts."""


async def build_corpus(
    sources: Sequence[Path],
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
) -> BuildSummary:
    """Build a corpus from sources and make it the current version. Does nothing if the current version was built from
    the same sources with the same settings.

    Raises InputError if a source is unusable, CorpusError if the directory is not writable or another process is
    building in it, and ConfigurationError if the embedder's model or a GPU is missing."""
    versions, build_options = VersionStore(directory), options or BuildOptions()
    open_gpus(build_options.device)  # fails early if there is no suitable GPU, before texts are embedded
    files = tuple([await asyncio.to_thread(describe_source, path) for path in sources])
    with explain_disk_errors(directory), versions.hold_build_lock():
        current_manifest = await asyncio.to_thread(versions.read_intact_manifest)
        lexical = embedder if isinstance(embedder, LexicalEmbedder) else None
        if current_manifest and _is_built_from(current_manifest, files, embedder, build_options):
            versions.prune(build_options.keep)  # leftovers of a build that was killed after publishing
            return BuildSummary(directory=directory, manifest=current_manifest, already_built=True)
        # Vectors supplied with records are useless if lexical weights must be computed too.
        harvest = RecordReader(sources, None if build_options.embed_anew or lexical else embedder)
        with versions.create_scratch_directory() as scratch, RecordVectors(scratch) as ready_vectors:
            papers = await asyncio.to_thread(sort_papers, ready_vectors.collect(harvest), scratch / "sorted.arrow")
            embedding = TextEmbedding(
                embedder, progress or ignore_progress, ready_vectors.get_vectors(), lexical=lexical
            )
            builder = VersionBuilder(versions, embedding, build_options)
            segments = await builder.write_sorted_papers(papers, first_ordinal=0)
        manifest = await _publish(
            builder, VersionPlan(kept=(), added=segments, hidden={}, sources=files, rejections=harvest.rejections)
        )
        return BuildSummary(
            directory=directory, manifest=manifest, already_built=False, rejections=tuple(harvest.rejections)
        )


def _is_built_from(
    manifest: Manifest, files: tuple[RecordSource, ...], embedder: Embedder, options: BuildOptions
) -> bool:
    """Return whether the version was built from these sources with the same settings, and not updated since."""
    build_parameters = (manifest.sources, manifest.embedder, manifest.exact_up_to, manifest.lexical, manifest.changes)
    return build_parameters == (files, embedder.name, options.exact_up_to, isinstance(embedder, LexicalEmbedder), None)


async def _publish(builder: VersionBuilder, plan: VersionPlan) -> Manifest:
    """Publish the version. If an intact identical version already exists, make that one current instead."""
    manifest = await asyncio.to_thread(builder.versions.read_intact_manifest, builder.name_version(plan))
    if manifest is None:
        return await builder.publish(plan)
    builder.versions.set_current(manifest.version)
    builder.versions.prune(builder.options.keep)
    return manifest
