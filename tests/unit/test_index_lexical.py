"""Lexical weights in a corpus: what is stored, what is found by them, and that all of it survives nights and shards."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import CorpusError
from assayer.models import OPEN, Hit, PaperId, Window
from assayer.ports import LexicalWeights, WeighedTexts
from index import (
    Corpus,
    Delta,
    Filters,
    VersionStore,
    build_corpus,
    build_shards,
    read_delta,
    read_manifest,
    update_corpus,
)
from index.building.acceptance import Acceptance
from index.building.vector_store import LexicalLookupEmbedder, VectorStore, add_vector_lookup, compute_vector_file_key
from index.records.paper_record import PaperRecord
from index.search.hybrid_ranking import fuse_scores
from index.search.hybrid_search import WeighedQuery
from index.search.version_reader import VersionReader
from index.segments.bm25_index import Bm25Matches
from index.segments.lexical_index import LexicalIndex, write_lexical_index
from index.segments.lexical_rows import LexicalSpool
from index.segments.row_filter import RowFilter
from index.shards.sharded_queries import merge_candidates, split_shard_key
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.in_memory import HashingLexicalEmbedder
from tests.unit.index_building import make_records
from workers.embedding.hashing_embedder import HashingEmbedder

PLAIN, WEIGHED = HashingEmbedder(), HashingLexicalEmbedder()
QUERY = "unlit stretches of road verges for moths"
_WORDS = ("moths", "clover", "meadow", "transect", "nectar", "strip", "hedge")
WORDS_QUERY = " ".join(_WORDS)


class CountingLexicalEmbedder(HashingLexicalEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.passages = 0

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        self.passages += len(texts) * (kind == "passage")
        return await super().embed_with_weights(texts, kind)


def make_weights(**weight_by_token: float) -> LexicalWeights:
    tokens = sorted(int(item[1:]) for item in weight_by_token)
    return LexicalWeights(
        np.array(tokens, np.int32), np.array([weight_by_token[f"t{token}"] for token in tokens], np.float32)
    )


def write_index(folder: Path, *blocks: Sequence[LexicalWeights]) -> LexicalIndex:
    with LexicalSpool(folder / "spool") as spool:
        for block in blocks:
            spool.append(block)
        write_lexical_index(folder, spool)
    return LexicalIndex(folder, sum(map(len, blocks)))


def make_distinct_record(number: int, **fields: Any) -> dict[str, Any]:
    """Return a record such that no two are equally near to a query."""
    words = " ".join(f"{word} " * (number % (3 + place)) for place, word in enumerate(_WORDS))
    return record(number, title=f"Moths of site {100 + number}", abstract=f"{words} {200 + number}") | fields


def make_distinct_records(*paper_numbers: int, **fields: Any) -> list[PaperRecord]:
    return [PaperRecord.model_validate(make_distinct_record(number, **fields)) for number in paper_numbers]


async def build(directory: Path, papers: Sequence[dict[str, Any]] = RECORDS) -> None:
    await build_corpus([write_jsonl(directory.parent / "papers.jsonl", papers)], directory, WEIGHED)


async def rank_by_weights(directory: Path, before: dt.date | None = None) -> list[tuple[str, float]]:
    """Return papers and lexical scores, best first."""
    versions = VersionStore(directory)
    reader = VersionReader.open(versions, read_manifest(versions.find_current_path()))
    vectors, (query_weights,) = await WEIGHED.embed_with_weights([WORDS_QUERY], "query")
    filters = Filters(window=Window.until(before))
    (candidates,) = reader.find_candidates([WeighedQuery(WORDS_QUERY, query_weights)], vectors, 100, filters)
    assert candidates.papers.by_lexical is not None
    ranked = zip(*map(np.ndarray.tolist, candidates.papers.by_lexical), strict=True)
    return sorted(((reader.get_paper(unit).id, score) for unit, score in ranked), key=lambda pair: (-pair[1], pair[0]))


async def search(corpus: Corpus, window: Window = OPEN, query: str = QUERY) -> list[Hit]:
    (hits,) = await corpus.search([query], 100, window)
    return hits


ROWS = (make_weights(t1=1.0, t7=0.5), make_weights(), make_weights(t7=2.0), make_weights(t1=0.25, t3=4.0))


@pytest.mark.parametrize("blocks", [(ROWS,), (ROWS[:1], ROWS[1:]), ((), ROWS)])
def test_lexical_scores_sum_products_of_shared_token_weights(tmp_path: Path, blocks: Sequence[Any]) -> None:
    index = write_index(tmp_path, *blocks)
    matches = index.find_nearest(make_weights(t1=2.0, t7=1.0, t9=5.0), 10, RowFilter(4))
    assert matches.rows.tolist() == [0, 2, 3]
    assert matches.scores.tolist() == [2.5, 2.0, 0.5]
    assert index.compute_scores(make_weights(t7=1.0), np.array([3, 2, 0, 2])).tolist() == [0.0, 2.0, 0.5, 2.0]
    assert not (tmp_path / "spool").exists()


def test_index_returns_only_allowed_rows_up_to_the_limit(tmp_path: Path) -> None:
    index = write_index(tmp_path, ROWS)
    query = make_weights(t1=2.0, t7=1.0)
    assert index.find_nearest(query, 10, RowFilter(2)).rows.tolist() == [0]
    masked = RowFilter(4, np.array([False, True, True, True]))
    assert index.find_nearest(query, 10, masked).rows.tolist() == [2, 3]
    assert index.find_nearest(query, 1, RowFilter(4)).rows.tolist() == [0]
    assert index.find_nearest(query, 0, RowFilter(4)).rows.tolist() == []
    assert index.find_nearest(make_weights(), 5, RowFilter(4)).rows.tolist() == []


def test_index_without_tokens_returns_nothing(tmp_path: Path) -> None:
    index = write_index(tmp_path, [make_weights(), make_weights()])
    assert index.find_nearest(make_weights(t1=1.0), 5, RowFilter(2)).rows.tolist() == []
    assert index.read_by_row().get_row(1).tokens.tolist() == []


@given(
    rows=st.lists(st.dictionaries(st.integers(0, 9), st.floats(0.125, 8, width=16), max_size=6), max_size=20),
    query=st.dictionaries(st.integers(0, 12), st.floats(0.125, 8, width=16), max_size=6),
    cut=st.integers(0, 20),
    block=st.integers(1, 7),
)
def test_index_matches_brute_force_comparison(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[int, float]],
    query: dict[int, float],
    cut: int,
    block: int,
) -> None:
    given_rows = [make_weights(**{f"t{token}": weight for token, weight in row.items()}) for row in rows]
    blocks = [given_rows[start : start + block] for start in range(0, len(given_rows), block)]
    index = write_index(tmp_path_factory.mktemp("lexical"), *blocks)
    query_weights = make_weights(**{f"t{token}": weight for token, weight in query.items()})
    scores = [round(sum(row.get(token, 0.0) * weight for token, weight in query.items()), 6) for row in rows]
    allowed = RowFilter(min(cut, len(rows)))
    expected = sorted((item for item in range(allowed.rows) if scores[item]), key=lambda item: (-scores[item], item))
    assert index.find_nearest(query_weights, 5, allowed).rows.tolist() == expected[:5]
    assert index.compute_scores(query_weights, np.arange(len(rows))).tolist() == pytest.approx(scores)
    weights_by_row = index.read_by_row()
    for number, row in enumerate(given_rows):
        assert (weights_by_row.get_row(number).tokens == row.tokens).all()
        assert (weights_by_row.get_row(number).weights == row.weights).all()


def test_lexical_weights_take_their_share_of_the_word_score() -> None:
    cosines = {1: 0.5, 2: 0.5, 3: 0.5}
    words = Bm25Matches(np.array([1]), np.array([9.0]))
    fused = fuse_scores(cosines, [words], by_weights={1: 0.0, 2: 3.0, 3: 1.5}, share=0.25)
    assert fused == pytest.approx({1: 0.3 + 0.4 * 0.75, 2: 0.3 + 0.1, 3: 0.3 + 0.05})
    assert fuse_scores(cosines, [words], by_weights={}) == fuse_scores(cosines, [words])
    assert fuse_scores(cosines, [], by_weights=dict.fromkeys(cosines, 0.0)) == pytest.approx(
        dict.fromkeys(cosines, 0.3)
    )


async def test_corpus_built_with_lexical_weights_uses_them_for_ranking(tmp_path: Path) -> None:
    papers = [make_distinct_record(number) for number in range(30)]
    await build(tmp_path / "weighed", papers)
    await build_corpus([tmp_path / "papers.jsonl"], tmp_path / "plain", PLAIN)
    weighed, plain = Corpus.open(tmp_path / "weighed", WEIGHED), Corpus.open(tmp_path / "plain", PLAIN)
    hits_with_weights, hits_without_weights = (
        await search(weighed, query=WORDS_QUERY),
        await search(plain, query=WORDS_QUERY),
    )
    assert {hit.paper.id: hit.similarity for hit in hits_with_weights} == {
        hit.paper.id: hit.similarity for hit in hits_without_weights
    }
    ranked = [item for item, _ in await rank_by_weights(tmp_path / "weighed")]

    def measure_distance(hits: Sequence[Hit]) -> int:
        """Return the distance from the order by lexical weights."""
        places: dict[str, int] = {hit.paper.id: place for place, hit in enumerate(hits)}
        return sum(abs(places[item] - place) for place, item in enumerate(ranked))

    assert measure_distance(hits_with_weights) < measure_distance(hits_without_weights)
    (passages,) = await weighed.snippets(["site 107"], 5, OPEN)
    assert passages[0].paper.id == "bee-07"
    assert weighed.version != plain.version


async def test_cutoff_is_exact_and_batched_queries_match_single_queries(tmp_path: Path) -> None:
    await build(tmp_path / "corpus")
    corpus = Corpus.open(tmp_path / "corpus", WEIGHED)
    window = Window.until(dt.date(2015, 12, 31))
    hits = await search(corpus, window)
    assert hits
    assert all(hit.paper.publication_date and hit.paper.publication_date <= dt.date(2015, 12, 31) for hit in hits)
    hits_without_weights = Filters(window=window, without=frozenset({hits[0].paper.id}))
    assert [hit.paper.id for hit in (await corpus.find([QUERY], 100, hits_without_weights))[0]] == [
        hit.paper.id for hit in hits if hit.paper.id != hits[0].paper.id
    ]
    queries = [f"{QUERY} {number}" for number in range(12)]
    single_hits = [(await corpus.search([query], 10, window))[0] for query in queries]
    batched_hits = await asyncio.gather(*(corpus.search([query], 10, window) for query in queries))
    assert [hits for (hits,) in batched_hits] == single_hits


async def test_damaged_lexical_weights_are_detected_on_open(tmp_path: Path) -> None:
    await build(tmp_path / "corpus")
    versions = VersionStore(tmp_path / "corpus")
    manifest = read_manifest(versions.find_current_path())
    assert manifest.lexical
    (segment,) = manifest.segments
    names = {file.path for file in segment.files if "lexical" in file.path}
    assert names == {f"{kind}/lexical-{part}.npy" for kind in ("papers", "passages") for part in
                     ("tokens", "offsets", "rows", "weights")}  # fmt: skip
    weights_file = versions.get_segment_path(segment.name) / "papers" / "lexical-weights.npy"
    weights_file.chmod(0o644)
    weights_file.write_bytes(weights_file.read_bytes()[:-2] + b"\x00\x11")
    with pytest.raises(CorpusError, match="lexical-weights"):
        Corpus.open(tmp_path / "corpus", WEIGHED)


async def test_weighted_corpus_requires_weighted_embedder_but_not_vice_versa(tmp_path: Path) -> None:
    await build(tmp_path / "weighed")
    with pytest.raises(CorpusError, match="ASSAYER_EMBEDDER__LIBRARY=FlagEmbedding"):
        Corpus.open(tmp_path / "weighed", PLAIN)
    with pytest.raises(CorpusError, match="does not provide"):
        await update_corpus(Delta(make_records(40)), tmp_path / "weighed", PLAIN)
    await build_corpus([tmp_path / "papers.jsonl"], tmp_path / "plain", PLAIN)
    before = await search(Corpus.open(tmp_path / "plain", PLAIN))
    assert await search(Corpus.open(tmp_path / "plain", WEIGHED)) == before
    await update_corpus(Delta(make_records(40)), tmp_path / "plain", WEIGHED)
    assert not read_manifest(VersionStore(tmp_path / "plain").find_current_path()).lexical
    assert PaperId("bee-40") in {hit.paper.id for hit in await search(Corpus.open(tmp_path / "plain", PLAIN))}


async def test_rebuild_happens_only_when_the_embedding_library_changes(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "papers.jsonl", RECORDS)
    plain = await build_corpus([source], tmp_path / "corpus", PLAIN)
    weighed = await build_corpus([source], tmp_path / "corpus", WEIGHED)
    rebuilt = await build_corpus([source], tmp_path / "corpus", WEIGHED)
    assert (plain.already_built, weighed.already_built, rebuilt.already_built) == (False, False, True)
    assert (plain.manifest.lexical, weighed.manifest.lexical) == (False, True)
    back = await build_corpus([source], tmp_path / "corpus", PLAIN)
    assert back.manifest.version == plain.manifest.version


async def test_updated_lexical_corpus_matches_corpus_built_at_once(tmp_path: Path) -> None:
    await build(tmp_path / "updated", [make_distinct_record(number) for number in range(30)])
    embedder = CountingLexicalEmbedder()
    changed = make_distinct_records(3, title="Moths and unlit stretches, again")
    accept = Acceptance(embedder, 30, [PaperId("bee-05")])
    delta = Delta([*changed, *make_distinct_records(30, 31)], [PaperId("bee-05")])
    summary = await update_corpus(delta, tmp_path / "updated", embedder, accept=accept)
    assert summary.manifest.lexical
    assert embedder.passages == 3, "what was known keeps its weights"
    papers = [make_distinct_record(number) for number in range(32) if number not in (3, 5)]
    await build(tmp_path / "anew", [*papers, make_distinct_record(3, title="Moths and unlit stretches, again")])
    for before in (None, dt.date(2016, 1, 1)):
        assert await rank_by_weights(tmp_path / "updated", before) == await rank_by_weights(tmp_path / "anew", before)
    hits = await search(Corpus.open(tmp_path / "updated", WEIGHED), query="unlit stretches, again")
    assert hits[0].paper.id == "bee-03"
    assert PaperId("bee-05") not in {hit.paper.id for hit in hits}


async def test_shards_match_whole_corpus_in_lexical_search(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "papers.jsonl", [make_distinct_record(number) for number in range(90)])
    await build_corpus([source], tmp_path / "whole", WEIGHED)
    sharded = await build_shards([source], 3, tmp_path / "sharded", WEIGHED)
    assert sharded.manifest.lexical
    assert (await build_shards([source], 3, tmp_path / "sharded", WEIGHED)).already_built
    stores = [VersionStore(tmp_path / "sharded" / "shards" / f"{number:02}") for number in range(3)]
    whole_reader, *shard_readers = (
        VersionReader.open(store, read_manifest(store.find_current_path()))
        for store in (VersionStore(tmp_path / "whole"), *stores)
    )
    vectors, (weights,) = await WEIGHED.embed_with_weights([WORDS_QUERY], "query")
    query = ([WeighedQuery(WORDS_QUERY, weights)], vectors, 50, Filters(window=Window.until(dt.date(2018, 1, 1))))
    (candidates,) = whole_reader.find_candidates(*query)
    merged = merge_candidates([part.find_candidates(*query)[0] for part in shard_readers])
    assert candidates.papers.by_lexical is not None
    assert merged.papers.by_lexical is not None
    assert candidates.papers.by_lexical.scores.tolist() == merged.papers.by_lexical.scores.tolist()
    ids = [
        shard_readers[shard].get_paper(unit).id
        for shard, unit in map(split_shard_key, merged.papers.by_lexical.rows.tolist())
    ]
    assert ids == [whole_reader.get_paper(unit).id for unit in candidates.papers.by_lexical.rows.tolist()]
    assert sorted(candidates.lexical.values())[-20:] == sorted(merged.lexical.values())[-20:]


async def test_records_with_vectors_are_still_embedded_for_lexical_weights(tmp_path: Path) -> None:
    """Vectors that come with records have no lexical weights."""
    vector = np.eye(1, WEIGHED.dimensions)[0].tolist()
    source = write_jsonl(
        tmp_path / "papers.jsonl", [record(1, embedding={"model": WEIGHED.name, "vector": vector}), record(2)]
    )
    embedder = CountingLexicalEmbedder()
    await build_corpus([source], tmp_path / "corpus", embedder)
    assert embedder.passages == 2
    update_file = write_jsonl(tmp_path / "more.jsonl", [record(3, embedding={"model": WEIGHED.name, "vector": vector})])
    assert (
        await update_corpus(read_delta([update_file], None, embedder), tmp_path / "corpus", embedder)
    ).changes.new == 1
    assert embedder.passages == 3


async def test_stored_vectors_include_weights_and_unweighted_vectors_are_not_reused(tmp_path: Path) -> None:
    store, texts = VectorStore(str(tmp_path)), [f"text {number} of moths" for number in range(5)]
    weighed = await WEIGHED.embed_with_weights(texts, "passage")
    key = compute_vector_file_key(texts, WEIGHED.name, with_weights=True)
    assert key != compute_vector_file_key(texts, WEIGHED.name)
    store.put(key, texts, *weighed)
    counting = CountingLexicalEmbedder()
    stored = add_vector_lookup(counting, store.load_vectors([key]))
    assert isinstance(stored, LexicalLookupEmbedder)
    reused = await stored.embed_with_weights([*texts, "and one more"], "passage")
    assert counting.passages == 1
    for reused_weights, fresh_weights in zip(reused.lexical, weighed.lexical, strict=False):
        assert (reused_weights.tokens == fresh_weights.tokens).all()
        assert reused_weights.weights == pytest.approx(fresh_weights.weights, rel=1e-3)
    plain = compute_vector_file_key(texts, WEIGHED.name)
    store.put(plain, texts, weighed.vectors)
    await LexicalLookupEmbedder(counting, counting, store.load_vectors([plain])).embed_with_weights(texts, "passage")
    assert counting.passages == 6
