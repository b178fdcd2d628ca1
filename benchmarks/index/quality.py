"""Measures the corpus of 25,527 real papers: `python -m benchmarks.index quality`."""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

from rich.console import Console
from rich.markup import escape

from benchmarks.index.machine import machine, resident_mb
from benchmarks.index.measures import Figure, approximate, fit, known_items, latency, recall
from benchmarks.index.questions import read_ideas, sample, sentences_of
from index import Corpus, build_corpus, read_manifest
from index.fit import fit_passages
from index.reader import Reader
from index.versions import Versions
from workers.embedding import SentenceTransformerEmbedder
from workers.embedding_settings import EmbedderSettings

DATA = Path(__file__).parents[3] / "shared" / "data"
_SAMPLE = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=DATA / "papers" / "papers.jsonl.gz")
    parser.add_argument("--ideas", type=Path, default=DATA / "scholarideas")
    parser.add_argument("--directory", type=Path, help="corpus to build or to reuse; a temporary one if not given")
    arguments = parser.parse_args()
    for path in (arguments.papers, arguments.ideas):
        if not path.exists():
            parser.exit(2, f"{path} is not there: the benchmark needs the data folder beside the clone.\n")
    console = Console(highlight=False)
    console.print(machine(), soft_wrap=True)
    with _directory(arguments.directory) as directory:
        figures = asyncio.run(measure(arguments.papers, arguments.ideas, directory, console))
    for figure in figures:
        console.print(f"{figure.what:<62}{escape(figure.value)}", soft_wrap=True)


@contextmanager
def _directory(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


async def measure(papers: Path, ideas: Path, directory: Path, console: Console) -> list[Figure]:
    embedder = SentenceTransformerEmbedder(EmbedderSettings())
    await embedder.embed(["warm up"], "query")
    figures = [Figure("memory, model loaded", f"{resident_mb():,.0f} MB")]
    figures += await _build(papers, directory, embedder, console)
    before, start = resident_mb(), perf_counter()
    corpus = Corpus.open(directory, embedder)
    figures.append(Figure("opening, checksums included", f"{perf_counter() - start:.2f} s"))
    reader = Reader.open(Versions(directory), read_manifest(Versions(directory).current()))
    (segment,) = reader.segments
    labelled = read_ideas(ideas)
    queries = sentences_of(labelled, 400)
    figures += await latency(corpus, queries[:100], batch=1)
    figures += await latency(corpus, queries[100:], batch=30)
    figures.append(Figure("memory, corpus open and searched", f"{resident_mb() - before:,.0f} MB more"))
    vectors = await embedder.embed(queries, "query")
    figures += recall("served index", segment.papers, vectors, segment)
    some = sample(segment.store, _SAMPLE)
    windows = [window for paper in some.values() for window in fit_passages(paper.abstract)]
    tuning = await embedder.embed(windows, "query")
    for kind in APPROXIMATE:
        with tempfile.TemporaryDirectory() as scratch:
            dense, parameters, seconds = approximate(segment, tuning, Path(scratch), kind)
            how = f"{parameters.probes} of {parameters.lists} lists, {parameters.rescored} scored for each found"
            figures.append(Figure(kind, f"built in {seconds:.1f} s, {how}, recall {parameters.recall_at_10} when tuned"))
            figures += recall(kind, dense, vectors, segment)
    with tempfile.TemporaryDirectory() as scratch:
        figures += await known_items(segment, embedder, sample(segment.store, known), Path(scratch))
    figures += await neighbours_of(reader, corpus, read_submissions(submissions))
    return figures + await fit(corpus, labelled)


async def _build(
    papers: Path, directory: Path, embedder: SentenceTransformerEmbedder, console: Console
) -> list[Figure]:
    start, cpu = perf_counter(), process_time()
    with console.status("Building the corpus: some minutes."):
        summary = await build_corpus([papers], directory, embedder)
    manifest = summary.manifest
    took = f"{perf_counter() - start:.0f} s, {process_time() - cpu:.0f} s of CPU"
    return [
        Figure("papers, passages besides", f"{manifest.papers:,}, {manifest.total('passages'):,}"),
        Figure("build", "reused, not measured" if summary.already_built else took),
        Figure("on disk", f"{manifest.bytes / 1e6:,.0f} MB"),
    ]


if __name__ == "__main__":
    main()
