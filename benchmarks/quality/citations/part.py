"""From the command line to the tables: real citation graphs, and how long a walk takes."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from assayer.ports import Embedder
from benchmarks.quality.citations.contenders import HOPS, Returned, returned
from benchmarks.quality.citations.corpora import open_corpus
from benchmarks.quality.citations.measures import citations_report, compared
from benchmarks.quality.citations.records import Graph, GraphName, Half, most_cited, queries_of, read_graph
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import DATA
from index import VersionStore, read_manifest
from index.search.version_reader import VersionReader
from workers.embedding.hashing_embedder import HashingEmbedder

__all__ = ["QUERIES", "citations", "measured"]

QUERIES = 300


def citations(given: Given) -> Iterator[str]:
    """No language model is asked."""
    options = given.options
    embedder: Embedder = HashingEmbedder() if options.hashed else given.embedder
    for name in options.graphs:
        graph = read_graph(DATA, name)
        directory = options.corpora / f"{name}-{embedder.name}"
        yield from measured(graph, name, directory, embedder, given, options.half)


def measured(
    graph: Graph, name: GraphName, directory: Path, embedder: Embedder, given: Given, half: Half
) -> Iterator[str]:
    queries = queries_of(graph, half)
    random.Random(given.asked.seeds[0]).shuffle(queries)
    queries = queries[: given.asked.first or QUERIES]
    famous = most_cited(graph)
    edges = sum(map(len, graph.cited.values()))
    yield f"## {name}: {len(graph.records):,} papers, {edges:,} citations, {len(queries)} queries of the {half} half"
    wanted = sum(len(one.relevant) for one in queries) / len(queries)
    yield f"\nDense: {embedder.name}. References a query: {wanted:.1f}."

    async def all_answers() -> list[Returned]:
        with closing(await open_corpus(graph, directory, embedder)) as corpus:
            versions = VersionStore(directory / "corpus")
            reader = VersionReader.open(versions, read_manifest(versions.current_path()))
            return [one for query in queries for one in await returned(corpus, reader, query, HOPS)]

    answers = asyncio.run(all_answers())
    yield from citations_report(
        {
            "All references": compared(answers, frozenset(), given.rounds),
            "Without the 20 most cited papers": compared(answers, famous, given.rounds),
        }
    )
