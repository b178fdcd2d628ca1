"""Updates a corpus in shards: every shard as a corpus of its own, then publishes a version of the whole."""

from dataclasses import replace
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder
from index.building.acceptance import Acceptance
from index.building.text_embedding import OnProgress
from index.building.update import Delta, ReadContents, Stopwatch, UpdateSummary, update_corpus
from index.building.version_builder import BuildOptions
from index.disk_access import explained_disk_errors
from index.segments.content_readings import READINGS_FILE
from index.shards.publish import publish_shards
from index.shards.shard_store import KEEP_ALL, ShardedManifest, ShardStore, shard_of
from index.versions.manifest import CorpusChanges, count_rejections

__all__ = ["ShardedUpdate", "split_delta", "update_shards"]


class ShardedUpdate(Frozen):
    manifest: ShardedManifest
    published: bool
    """False: nothing has changed in any shard, and the current version stays."""
    changes: CorpusChanges
    """In all shards together."""


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
    """As `index.update_corpus`, one shard after the other; every shard must answer as `accept` says, and enough papers
    must stay in all together. What an interrupted or refused update had written is reused."""
    shards, chosen, watch = ShardStore(directory), options or BuildOptions(), watch or Stopwatch()
    readings = chosen.readings or directory / READINGS_FILE
    of_shards = chosen.model_copy(update={"keep": KEEP_ALL, "readings": readings})
    with explained_disk_errors(directory), shards.build_lock() as count:
        before = shards.read_manifest()
        parts = split_delta(delta, count)
        done = []
        for number, part in enumerate(parts):
            place = shards.shard_path(number)
            answers = accept.check_answers if accept else None
            done.append(await update_corpus(part, place, embedder, progress, of_shards, answers, watch, read_contents))
        changes = _summed_changes(before.version, parts, done, watch.seconds)
        if not any(one.published for one in done):
            shards.prune(chosen.keep)
            return ShardedUpdate(manifest=before, published=False, changes=changes)
        if accept is not None:
            accept.check_size(directory, sum(one.manifest.papers for one in done))
        versions = [one.manifest.version for one in done]
        with watch.stage("publish the whole"):
            manifest = await publish_shards(
                directory, versions, embedder, chosen.keep, delta.sources, count_rejections(delta.rejections), changes
            )
    return ShardedUpdate(manifest=manifest, published=True, changes=changes)


def split_delta(delta: Delta, count: int) -> list[Delta]:
    """The part of each shard; rejected lines are noted with the first."""
    upserts = shard_of((record.id for record in delta.upserts), count).tolist()
    deletions = shard_of(delta.deletions, count).tolist()
    return [
        replace(
            delta,
            upserts=[record for record, own in zip(delta.upserts, upserts, strict=True) if own == shard],
            deletions=[one for one, own in zip(delta.deletions, deletions, strict=True) if own == shard],
            rejections=delta.rejections if shard == 0 else (),
        )
        for shard in range(count)
    ]


def _summed_changes(before: str, parts: list[Delta], done: list[UpdateSummary], seconds: float) -> CorpusChanges:
    """A shard that was not published had no changes."""
    published = [one.manifest.changes for one in done if one.published and one.manifest.changes]
    same = [part for part, one in zip(parts, done, strict=True) if not one.published]
    return CorpusChanges(
        before=before,
        new=sum(one.new for one in published),
        changed=sum(one.changed for one in published),
        unchanged=sum(one.unchanged for one in published) + sum(len(part.upserts) for part in same),
        removed=sum(one.removed for one in published),
        unknown=sum(one.unknown for one in published) + sum(len(set(part.deletions)) for part in same),
        embedded=sum(one.embedded for one in published),
        seconds=seconds,
    )
