"""`assayer corpus`: build, update and describe the local paper corpus. Other subcommands are in separate modules."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from assayer.errors import CorpusError, InputError
from cluster.cli import corpus_ingest
from cluster.cli.corpus_build_on_ray import build_on_ray
from cluster.cli.corpus_nightly import history, nightly
from cluster.cli.corpus_plan import plan
from cluster.cli.corpus_publish import add_publication, build_source_rows, publish, pull
from cluster.cli.corpus_search import search
from cluster.cli.options import WithJson
from cluster.cli.terminal import Outcome, StepProgress, format_size, show_facts
from cluster.settings import Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from index import Manifest, ShardedManifest
    from index.records.record_sources import RejectedLine
    from index.segments.segment import SegmentEntry
    from index.versions.manifest import RejectionCount


def info(as_json: WithJson = False) -> None:
    """Show the current version and how it was built."""
    settings = load_settings()
    rows = build_source_rows(settings)
    try:
        rows |= _build_version_rows(settings.corpus_path)
    except CorpusError:
        if not rows:
            raise
        rows["Version"] = f"none yet in {settings.corpus_path}; fetch it with: assayer corpus pull"
    show_facts(rows, as_json=as_json)


def _build_version_rows(directory: Path) -> dict[str, str]:
    """Return the table rows that describe the current version on this machine. Raises CorpusError if there is none."""
    from index import ShardStore, VersionStore, is_sharded, read_manifest

    rows: dict[str, str]
    if is_sharded(directory):
        shards = ShardStore(directory)
        sharded_manifest = shards.read_manifest()
        places = [
            VersionStore(shards.get_shard_path(number)).get_version_path(shard.version)
            for number, shard in enumerate(sharded_manifest.shards)
        ]
        parts = [read_manifest(place) for place in places if place.is_dir()]
        papers = [part.papers for part in parts]
        if not parts:
            raise CorpusError(
                f"{directory} contains no shard of the corpus.", "Fetch the shards with: assayer corpus pull"
            )
        missing_note = "" if len(parts) == len(places) else f", of {len(places)}: the others are not on this machine"
        spread = f"{len(parts)} of {min(papers):,} to {max(papers):,} papers{missing_note}"
        rows = {"Version": f"{sharded_manifest.version} in {shards.versions.find_current_path()}", "Shards": spread}
        rejected, sources = sharded_manifest.rejected, sharded_manifest.sources
    else:
        path = VersionStore(directory).find_current_path()
        parts = [read_manifest(path)]
        rows = {"Version": f"{parts[0].version} in {path}"}
        rejected, sources = parts[0].rejected, parts[0].sources
    return (
        rows
        | _build_content_rows(parts)
        | {
            "Sources": ", ".join(source.name for source in sources),
            "Skipped": "; ".join(f"{rejection.count:,} × {rejection.reason}" for rejection in rejected) or "nothing",
            "On disk": format_size(sum(part.bytes for part in parts)),
        }
    )


def _build_content_rows(parts: Sequence["Manifest"]) -> dict[str, str]:
    """Return the table rows that describe the combined contents of all shards."""
    segments = [segment for part in parts for segment in part.segments]
    recalls = [segment.paper_index.recall_at_10 for segment in segments if segment.paper_index.recall_at_10 is not None]
    kinds = ", ".join(sorted({segment.paper_index.kind for segment in segments}))
    earliest = min((part.earliest for part in parts if part.earliest), default=None)
    latest = max((part.latest for part in parts if part.latest), default=None)

    def total(count: str) -> int:
        return sum(part.sum_counts(count) for part in parts)

    return {
        "Papers": f"{sum(part.papers for part in parts):,}; dated from {earliest} to {latest}",
        "Full texts": f"{total('full_texts'):,}, {total('passages'):,} passages in addition to abstracts",
        "References": f"known for {total('with_references'):,} papers",
        "Base graph": _build_graph_row(segments),
        "Embedding model": f"{parts[0].embedder}, {parts[0].dimensions} dimensions"
        + (", with lexical weights" if parts[0].lexical else ""),
        "Index": kinds if not recalls else f"{kinds}, recall@10 {min(recalls):.3f}",
        "Segments": f"{len(segments):,}, {sum(item.hidden for item in segments):,} papers in them replaced or removed",
    }


def _build_graph_row(segments: Sequence["SegmentEntry"]) -> str:
    """Return the numbers of nodes and edges in the graph. A name that occurs in several segments is counted in each."""
    graphs = [segment.graph for segment in segments]

    def total(count: str) -> str:
        return f"{sum(getattr(graph, count) for graph in graphs):,}"

    nodes = ", ".join(f"{total(kind)} {kind}" for kind in ("concepts", "methods", "claims"))
    kinds = ("citations", "concerns", "uses", "introduces", "builds_on")
    edges = ", ".join(f"{total(kind)} {kind.replace('_', ' ')}" for kind in kinds)
    return f"{nodes}; edges: {edges}"


app = typer.Typer(help="Build and search the local paper corpus.", no_args_is_help=True)
app.add_typer(corpus_ingest.app, name="ingest")
_SHOWN_REJECTIONS = 5


_BIBLIOGRAPHIES = (".bib", ".ris", ".nbib", ".ciw", ".txt", ".xml", ".json", ".csv")

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCES",
        help="Bibliographies with abstracts (BibTeX, RIS, CSL JSON, Zotero's CSV), or paper records: .jsonl, .jsonl.gz "
        "or .parquet files, or folders of .parquet files.",
    ),
]
EmbedAnew = Annotated[
    bool, typer.Option("--embed-anew", help="Embed all texts, ignoring vectors that come with the records.")
]


@app.command()
def build(
    paths: Sources,
    shards: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Number of shards; they are searched as one corpus.")
    ] = None,
    embed_anew: EmbedAnew = False,
    as_json: WithJson = False,
) -> None:
    """Build the corpus from papers. The current version stays in use until the new version is complete."""
    with Outcome(as_json=as_json) as outcome, _convert_to_records(paths, outcome) as records:
        asyncio.run(build_from_records(records, shards, embed_anew, load_settings(), outcome))


@app.command()
def update(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files of new and changed papers, as for `build`.")] = None,
    remove: Annotated[Path | None, typer.Option(help="File with the ids of papers to remove, one per line.")] = None,
    embed_anew: EmbedAnew = False,
    as_json: WithJson = False,
) -> None:
    """Update the corpus without rebuilding it. Running evaluations keep the version with which they started."""
    with Outcome(as_json=as_json) as outcome, _convert_to_records(paths or [], outcome) as records:
        asyncio.run(_update(records, remove, embed_anew, load_settings(), outcome))


app.command()(search)
app.command()(info)
app.command()(plan)
app.command()(nightly)
app.command()(history)
app.command()(publish)
app.command()(pull)
app.command()(build_on_ray)


@contextmanager
def _convert_to_records(paths: Sequence[Path], outcome: Outcome) -> Iterator[list[Path]]:
    """Yield the paths, replacing each bibliography by a temporary file of its papers. Skipped entries are added to the
    outcome."""
    from cluster.corpora.bibliography_records import write_bibliography_records

    with TemporaryDirectory(prefix="assayer-") as folder:
        records, skipped = [], []
        for number, path in enumerate(paths):
            if path.suffix.lower() not in _BIBLIOGRAPHIES:
                records.append(path)
                continue
            records_file = Path(folder, str(number), f"{path.name}.jsonl")
            records_file.parent.mkdir()
            for refusal in write_bibliography_records(path, records_file):
                skipped.append(refusal)
                outcome.add(f"[yellow]Skipped[/] {escape(refusal)}", skipped=skipped)
            records.append(records_file)
        yield records


async def build_from_records(
    paths: list[Path], shards: int | None, embed_anew: bool, settings: Settings, outcome: Outcome
) -> None:
    """Build the corpus, and add a summary to the outcome. Raises AssayerError if it cannot be built."""
    from cluster.corpus_source import CorpusRelease
    from index import BuildOptions, build_corpus, build_shards, is_sharded
    from workers.embedding.embedder import create_local_embedder

    directory, embedder = settings.corpus_path, create_local_embedder(settings.embedder)
    if shards is None and is_sharded(directory):
        raise InputError(
            f"The corpus in {directory} is sharded.",
            "Pass --shards, or set ASSAYER_CORPUS__PATH to a different folder.",
        )
    release = CorpusRelease.from_settings(settings)
    if release is not None:
        await asyncio.to_thread(release.begin)
    options = BuildOptions(embed_anew=embed_anew, device=settings.corpus.device)
    with StepProgress("Embedding") as bar:
        summary = (
            await build_corpus(paths, directory, embedder, bar.update, options)
            if shards is None
            else await build_shards(paths, shards, directory, embedder, bar.update, options)
        )
    manifest = summary.manifest
    verb = "Already built" if summary.already_built else "Built"
    parts = "" if shards is None else f" in {shards} shards"
    outcome.add(
        f"{verb}: {manifest.papers:,} papers{parts}, version {manifest.version}, in {escape(str(directory))}.",
        path=directory,
        version=manifest.version,
        papers=manifest.papers,
        shards=shards,
        already_built=summary.already_built,
    )
    _add_rejections(outcome, manifest.rejected, summary.rejections)
    if release is not None:
        add_publication(outcome, await asyncio.to_thread(release.publish), release.address)


async def _update(
    paths: list[Path], remove: Path | None, embed_anew: bool, settings: Settings, outcome: Outcome
) -> None:
    from cluster.corpus_source import CorpusRelease
    from index import BuildOptions, is_sharded, read_delta, update_corpus, update_shards
    from index.versions.manifest import count_rejections
    from workers.embedding.embedder import create_local_embedder

    started = time.monotonic()
    directory, embedder = settings.corpus_path, create_local_embedder(settings.embedder)
    options = BuildOptions(device=settings.corpus.device)
    delta = await asyncio.to_thread(read_delta, paths, remove, None if embed_anew else embedder)
    release = CorpusRelease.from_settings(settings)
    if release is not None:
        await asyncio.to_thread(release.begin_update)
    with StepProgress("Embedding") as bar:
        if is_sharded(directory):
            sharded_update = await update_shards(delta, directory, embedder, bar.update, options)
            manifest: Manifest | ShardedManifest = sharded_update.manifest
            done = sharded_update.changes if sharded_update.published else None
        else:
            summary = await update_corpus(delta, directory, embedder, bar.update, options)
            manifest, done = summary.manifest, summary.manifest.changes if summary.published else None
    outcome.add(path=directory, version=manifest.version, papers=manifest.papers, changes=done)
    if done is None:
        outcome.add(f"Nothing has changed: {manifest.papers:,} papers, version {manifest.version}.")
        if delta.deletions:
            outcome.add(f"[yellow]None of the {len(delta.deletions):,} ids to remove is in the corpus.[/]")
    else:
        outcome.add(
            f"Updated in {time.monotonic() - started:.1f} s: {done.new:,} new, {done.changed:,} changed, "
            f"{done.removed:,} removed, {done.unchanged:,} unchanged; {done.unknown:,} of the ids to remove were not "
            f"found. {manifest.papers:,} papers, version {manifest.version}."
        )
    _add_rejections(outcome, count_rejections(delta.rejections), delta.rejections)
    if release is not None:
        add_publication(outcome, await asyncio.to_thread(release.publish), release.address)


def _add_rejections(
    outcome: Outcome, reasons: Sequence["RejectionCount"], rejections: Sequence["RejectedLine"]
) -> None:
    outcome.add(
        *(f"[yellow]Skipped[/] {reason.count:,} × {escape(reason.reason)}" for reason in reasons),
        *(f"          {escape(str(rejection))}" for rejection in rejections[:_SHOWN_REJECTIONS]),
        rejected=reasons,
    )
