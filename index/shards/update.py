"""Update a sharded corpus: update each shard like a separate corpus, then publish a version of the whole corpus."""

from dataclasses import replace
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder
from index.building.acceptance import Acceptance
from index.building.text_embedding import OnProgress
from index.building.update import Delta, ReadContents, Stopwatch, UpdateSummary, update_corpus
from index.building.version_builder import BuildOptions
from index.disk_access import explain_disk_errors
from index.segments.content_readings import READINGS_FILE
from index.shards.publish import publish_shards
from index.shards.shard_store import KEEP_ALL, ShardedManifest, ShardStore, assign_shards
from index.versions.manifest import CorpusChanges, count_rejections


class ShardedUpdate(Frozen):
    manifest: ShardedManifest
    published: bool
    """False if nothing changed in any shard, so that the current version stays current."""
    changes: CorpusChanges
    """Changes in all shards together."""


async def update_shards(
    delta: Delta,
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
    accept: Acceptance | None = None,
    watch: Stopwatch | None = None,
    read_contents: ReadContents | None = None,
) -> ShardedUpdate:
    """Update a sharded corpus, shard by shard, as `index.update_corpus` does. Every shard must pass `accept`, and
    enough papers must remain in all shards together. Files written by an interrupted or rejected update are reused."""
    shards, build_options, watch = ShardStore(directory), options or BuildOptions(), watch or Stopwatch()
    readings = build_options.readings or directory / READINGS_FILE
    shard_options = build_options.model_copy(update={"keep": KEEP_ALL, "readings": readings})
    with explain_disk_errors(directory), shards.hold_build_lock() as count:
        manifest_before = shards.read_manifest()
        parts = split_delta(delta, count)
        summaries = []
        for number, part in enumerate(parts):
            place = shards.get_shard_path(number)
            answers = accept.check_answers if accept else None
            summaries.append(
                await update_corpus(part, place, embedder, progress, shard_options, answers, watch, read_contents)
            )
        changes = _sum_changes(manifest_before.version, parts, summaries, watch.seconds)
        if not any(summary.published for summary in summaries):
            shards.prune(build_options.keep)
            return ShardedUpdate(manifest=manifest_before, published=False, changes=changes)
        if accept is not None:
            accept.check_size(directory, sum(summary.manifest.papers for summary in summaries))
        versions = [summary.manifest.version for summary in summaries]
        with watch.stage("publish all shards"):
            manifest = await publish_shards(
                directory,
                versions,
                embedder,
                build_options.keep,
                delta.sources,
                count_rejections(delta.rejections),
                changes,
            )
    return ShardedUpdate(manifest=manifest, published=True, changes=changes)


def split_delta(delta: Delta, count: int) -> list[Delta]:
    """Split a delta into one part per shard; rejected lines are recorded with the first part."""
    upserts = assign_shards((record.id for record in delta.upserts), count).tolist()
    deletions = assign_shards(delta.deletions, count).tolist()
    return [
        replace(
            delta,
            upserts=[record for record, owner in zip(delta.upserts, upserts, strict=True) if owner == shard],
            deletions=[deletion for deletion, owner in zip(delta.deletions, deletions, strict=True) if owner == shard],
            rejections=delta.rejections if shard == 0 else (),
        )
        for shard in range(count)
    ]


def _sum_changes(
    version_before: str, parts: list[Delta], summaries: list[UpdateSummary], seconds: float
) -> CorpusChanges:
    """Add up the changes in all shards. A shard that was not published had no changes."""
    published_changes = [
        summary.manifest.changes for summary in summaries if summary.published and summary.manifest.changes
    ]
    unchanged_parts = [part for part, item in zip(parts, summaries, strict=True) if not item.published]
    return CorpusChanges(
        before=version_before,
        new=sum(published_change.new for published_change in published_changes),
        changed=sum(published_change.changed for published_change in published_changes),
        unchanged=sum(published_change.unchanged for published_change in published_changes)
        + sum(len(part.upserts) for part in unchanged_parts),
        removed=sum(published_change.removed for published_change in published_changes),
        unknown=sum(published_change.unknown for published_change in published_changes)
        + sum(len(set(part.deletions)) for part in unchanged_parts),
        embedded=sum(published_change.embedded for published_change in published_changes),
        seconds=seconds,
    )
