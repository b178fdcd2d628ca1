"""`assayer corpus info`: which version is in use, and how it was built."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from cluster.cli.sizes import size
from cluster.settings import load_settings

if TYPE_CHECKING:
    from index import Manifest

__all__ = ["info"]


def info() -> None:
    """Show which version is in use and how it was built."""
    from index import Shards, Versions, is_sharded, read_manifest

    directory = load_settings().corpus_path
    rows: dict[str, str]
    if is_sharded(directory):
        shards = Shards(directory)
        whole = shards.read()
        parts = [
            read_manifest(Versions(shards.shard(number)).path(one.version)) for number, one in enumerate(whole.shards)
        ]
        papers = [one.papers for one in parts]
        spread = f"{len(parts)} of {min(papers):,} to {max(papers):,} papers"
        rows = {"Version": f"{whole.version} in {shards.versions.current()}", "Shards": spread}
        rejected, sources = whole.rejected, whole.sources
    else:
        path = Versions(directory).current()
        parts = [read_manifest(path)]
        rows = {"Version": f"{parts[0].version} in {path}"}
        rejected, sources = parts[0].rejected, parts[0].sources
    rows |= _held(parts) | {
        "Sources": ", ".join(source.name for source in sources),
        "Set aside": "; ".join(f"{one.count:,} × {one.reason}" for one in rejected) or "nothing",
        "On disk": size(sum(one.bytes for one in parts)),
    }
    console = Console(highlight=False)
    for name, text in rows.items():
        console.print(f"[bold]{name + ':':<17}[/]{escape(text)}", soft_wrap=True)


def _held(parts: Sequence["Manifest"]) -> dict[str, str]:
    """What is in all of them together."""
    segments = [segment for part in parts for segment in part.segments]
    recalls = [one.paper_index.recall_at_10 for one in segments if one.paper_index.recall_at_10 is not None]
    kinds = ", ".join(sorted({one.paper_index.kind for one in segments}))
    earliest = min((one.earliest for one in parts if one.earliest), default=None)
    latest = max((one.latest for one in parts if one.latest), default=None)

    def total(count: str) -> int:
        return sum(part.total(count) for part in parts)

    return {
        "Papers": f"{sum(part.papers for part in parts):,}; dated ones are of {earliest} to {latest}",
        "Full texts": f"{total('full_texts'):,}, {total('passages'):,} passages besides abstracts",
        "References": f"known of {total('with_references'):,} papers",
        "Embedding model": f"{parts[0].embedder}, {parts[0].dimensions} dimensions",
        "Index": kinds if not recalls else f"{kinds}, recall@10 {min(recalls):.3f}",
        "Segments": f"{len(segments):,}, {sum(one.hidden for one in segments):,} papers in them replaced or removed",
    }
