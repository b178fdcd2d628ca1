"""Brings a corpus in shards up to date: every shard as a corpus of its own, then one version of the whole."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder
from index.building.acceptance import Accept
from index.building.delta import Delta
from index.building.making import BuildOptions
from index.building.stages import Stopwatch
from index.building.update import UpdateSummary, update_corpus
from index.building.writing import OnProgress
from index.disk import writing_to
from index.shards.manifest import ShardedManifest
from index.shards.publishing import publish_shards
from index.shards.shards import KEEP_ALL, Shards, shard_of
from index.versions.manifest import Changes, Manifest, counted, read_manifest
from index.versions.versions import Versions

__all__ = ["ShardedUpdate", "split_delta", "update_shards"]


class ShardedUpdate(Frozen):
    manifest: ShardedManifest
    published: bool
    """False: nothing has changed in any shard, and the version at hand goes on."""
    changes: Changes
    """In all shards together."""


async def update_shards(
    delta: Delta,
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
    accept: Callable[[Manifest], Accept] | None = None,
    watch: Stopwatch | None = None,
) -> ShardedUpdate:
    """As `index.update_corpus`, one shard after the other; `accept` is made for each shard from its manifest. What a
    night that was killed had written is used again."""
    shards, chosen, watch = Shards(directory), options or BuildOptions(), watch or Stopwatch()
    of_shards = chosen.model_copy(update={"keep": KEEP_ALL})
    with writing_to(directory), shards.building() as count:
        before = shards.read()
        parts = split_delta(delta, count)
        done = []
        for number, part in enumerate(parts):
            place = shards.shard(number)
            accepting = accept(read_manifest(Versions(place).current())) if accept else None
            done.append(await update_corpus(part, place, embedder, progress, of_shards, accepting, watch))
        changes = _together(before.version, parts, done, watch.seconds)
        if not any(one.published for one in done):
            shards.prune(chosen.keep)
            return ShardedUpdate(manifest=before, published=False, changes=changes)
        versions = [one.manifest.version for one in done]
        with watch.stage("publish the whole"):
            manifest = await publish_shards(
                directory, versions, embedder, chosen.keep, delta.sources, counted(delta.rejections), changes
            )
    return ShardedUpdate(manifest=manifest, published=True, changes=changes)


def split_delta(delta: Delta, count: int) -> list[Delta]:
    """For each shard what is its own; what was set aside is noted with the first."""
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


def _together(before: str, parts: list[Delta], done: list[UpdateSummary], seconds: float) -> Changes:
    """A shard that was not published knew all that it was told."""
    published = [one.manifest.changes for one in done if one.published and one.manifest.changes]
    same = [part for part, one in zip(parts, done, strict=True) if not one.published]
    return Changes(
        before=before,
        new=sum(one.new for one in published),
        changed=sum(one.changed for one in published),
        unchanged=sum(one.unchanged for one in published) + sum(len(part.upserts) for part in same),
        removed=sum(one.removed for one in published),
        unknown=sum(one.unknown for one in published) + sum(len(set(part.deletions)) for part in same),
        embedded=sum(one.embedded for one in published),
        seconds=seconds,
    )
