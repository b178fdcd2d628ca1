"""Measures search in the corpus of 25,527 real papers: `python -m benchmarks.index quality`."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape

from benchmarks.index.ideas_2017 import measure_neighbours, read_submissions
from benchmarks.index.known_items import measure_known_items
from benchmarks.index.measures import Figure, build_approximate_index, measure_fit, measure_latency, measure_recall
from benchmarks.index.memory import measure_resident_mb
from benchmarks.index.questions import read_ideas, sample_papers, select_sentences
from benchmarks.measuring import build_parser, format_heading, open_directory
from benchmarks.records import DATA
from index import Corpus, build_corpus, read_manifest
from index.corpus_fit import select_fit_passages
from index.search.version_reader import VersionReader
from index.segments.approximate_index import ApproximateIndexKind
from index.versions.version_store import VersionStore
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

_SAMPLE_SIZE = 500
_APPROXIMATE_KINDS: tuple[ApproximateIndexKind, ...] = ("ivf_sq8", "ivf_pq")


class Data(NamedTuple):
    papers: Path
    ideas: Path
    submissions: Path


def main() -> None:
    parser = build_parser("index quality", __doc__)
    parser.add_argument("--papers", type=Path, default=DATA / "papers" / "papers.jsonl.gz")
    parser.add_argument("--ideas", type=Path, default=DATA / "scholarideas")
    parser.add_argument("--submissions", type=Path, default=DATA / "iclr2017" / "submissions.jsonl.gz")
    parser.add_argument(
        "--known", type=int, default=1600, help="papers to search for by title and by half the abstract"
    )
    parser.add_argument("--directory", type=Path, help="corpus to build or reuse; temporary by default")
    arguments = parser.parse_args()
    data = Data(arguments.papers, arguments.ideas, arguments.submissions)
    for path in data:
        if not path.exists():
            parser.exit(2, f"{path} was not found. The benchmark needs the data folder beside the clone.\n")
    console = Console(highlight=False)
    console.print(format_heading(), soft_wrap=True)
    with open_directory(arguments.directory) as directory:
        asyncio.run(_print_figures(measure(data, arguments.known, directory, console), console))


async def _print_figures(figures: AsyncIterator[Sequence[Figure]], console: Console) -> None:
    async for figure_group in figures:
        for figure in figure_group:
            console.print(f"{figure.name:<62}{escape(figure.value)}", soft_wrap=True)


async def measure(data: Data, known_count: int, directory: Path, console: Console) -> AsyncIterator[Sequence[Figure]]:
    embedder = SentenceTransformerEmbedder(EmbedderSettings())
    await embedder.embed(["warm up"], "query")
    yield [Figure("memory, model loaded", f"{measure_resident_mb():,.0f} MB")]
    yield await _build(data.papers, directory, embedder, console)
    mb_before, start = measure_resident_mb(), perf_counter()
    corpus = Corpus.open(directory, embedder)
    yield [Figure("opening, checksums included", f"{perf_counter() - start:.2f} s")]
    reader = VersionReader.open(VersionStore(directory), read_manifest(VersionStore(directory).find_current_path()))
    (segment,) = reader.segments
    ideas = read_ideas(data.ideas)
    queries = select_sentences(ideas, 400)
    yield await measure_latency(corpus, queries[:100], batch=1)
    yield await measure_latency(corpus, queries[100:], batch=30)
    yield [Figure("memory, corpus open and searched", f"{measure_resident_mb() - mb_before:,.0f} MB more")]
    vectors = await embedder.embed(queries, "query")
    yield measure_recall("served index", segment.papers, vectors, segment)
    sampled_papers = sample_papers(segment.store, _SAMPLE_SIZE)
    tuning_vectors = await embedder.embed(
        [fit_passage for paper in sampled_papers.values() for fit_passage in select_fit_passages(paper.abstract)],
        "query",
    )
    for kind in _APPROXIMATE_KINDS:
        with tempfile.TemporaryDirectory() as scratch:
            dense, parameters, seconds = build_approximate_index(segment, tuning_vectors, Path(scratch), kind)
            search_text = (
                f"{parameters.probes} of {parameters.lists} lists, {parameters.rescored} scored for each found"
            )
            description = f"built in {seconds:.1f} s, {search_text}, recall {parameters.recall_at_10} when tuned"
            yield [Figure(kind, description), *measure_recall(kind, dense, vectors, segment)]
    yield await measure_neighbours(reader, corpus, read_submissions(data.submissions))
    with tempfile.TemporaryDirectory() as scratch:
        yield await measure_known_items(segment, embedder, sample_papers(segment.store, known_count), Path(scratch))
    yield await measure_fit(corpus, ideas)


async def _build(
    papers: Path, directory: Path, embedder: SentenceTransformerEmbedder, console: Console
) -> list[Figure]:
    start, cpu = perf_counter(), process_time()
    with console.status("Building the corpus; this takes a few minutes."):
        summary = await build_corpus([papers], directory, embedder)
    manifest = summary.manifest
    duration_text = f"{perf_counter() - start:.0f} s, {process_time() - cpu:.0f} s of CPU"
    return [
        Figure("papers, passages besides", f"{manifest.papers:,}, {manifest.sum_counts('passages'):,}"),
        Figure("build", "reused, not measured" if summary.already_built else duration_text),
        Figure("on disk", f"{manifest.bytes / 1e6:,.0f} MB"),
    ]


if __name__ == "__main__":
    main()
