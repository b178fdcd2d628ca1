from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import ConfigurationError, CorpusError, InputError
from assayer.models import OPEN, PaperId
from index import BuildOptions, Corpus, Delta, Manifest, build_corpus, read_delta, update_corpus
from index.building.compaction import SegmentSize, choose_segments_to_rewrite
from tests.corpus_papers import RECORDS, write_jsonl
from tests.unit.index_building import CountingEmbedder, make_records
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
HANDBOOK = PaperId("bee-12")


async def build(directory: Path, papers: Sequence[dict[str, Any]] = RECORDS, segment: int = 1000) -> Manifest:
    source = write_jsonl(directory.parent / "papers.jsonl", papers)
    options = BuildOptions(papers_per_segment=segment)
    return (await build_corpus([source], directory, EMBEDDER, options=options)).manifest


async def list_titles_by_id(corpus: Corpus) -> dict[str, str]:
    """Return the titles of all papers that a search finds, by id."""
    (hits,) = await corpus.search(["pollinators in meadows"], 10_000, OPEN)
    return {hit.paper.id: hit.paper.title for hit in hits}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


async def test_update_adds_changes_and_removes(directory: Path) -> None:
    before = await build(directory)
    changed = make_records(3, title="Quite another title about lichens")
    delta = Delta([*make_records(20, 21, 4), *changed], [PaperId("bee-07"), PaperId("nobody")])
    manifest = (await update_corpus(delta, directory, EMBEDDER)).manifest
    changes = manifest.changes
    assert changes is not None
    assert (changes.before, changes.new, changes.changed, changes.unchanged, changes.removed, changes.unknown) == (
        before.version, 2, 1, 1, 1, 1,
    )  # fmt: skip
    corpus = Corpus.open(directory, EMBEDDER)
    title_by_id = await list_titles_by_id(corpus)
    assert len(corpus) == len(title_by_id) == 15
    assert "bee-07" not in title_by_id
    assert title_by_id["bee-03"] == "Quite another title about lichens"
    assert {"bee-20", "bee-21"} < set(title_by_id)
    (lichens,) = await corpus.search(["lichens"], 1, OPEN)
    assert lichens[0].paper.id == "bee-03"
    assert set(await corpus.papers([PaperId("bee-07"), PaperId("bee-03")], OPEN)) == {"bee-03"}


async def test_update_embeds_only_papers_with_changed_text(directory: Path) -> None:
    await build(directory)
    embedder = CountingEmbedder()
    delta = Delta(
        [*make_records(20, title="A new one"), *make_records(3, citation_count=99), *make_records(5, title="Another")]
    )
    manifest = (await update_corpus(delta, directory, embedder, options=BuildOptions(papers_per_segment=5))).manifest
    assert manifest.changes is not None
    assert embedder.passages == 2
    assert (await Corpus.open(directory, EMBEDDER).papers([PaperId("bee-03")], OPEN))[
        PaperId("bee-03")
    ].citation_count == 99


async def test_update_without_changes_keeps_the_version(directory: Path) -> None:
    before = await build(directory)
    summary = await update_corpus(Delta(make_records(3, 4), [PaperId("nobody")]), directory, EMBEDDER)
    assert (summary.manifest, summary.published) == (before, False)


async def test_interrupted_update_keeps_version_and_completes_when_rerun(directory: Path) -> None:
    before = await build(directory)
    delta = Delta(make_records(20, 21, 22, 23), [HANDBOOK])
    with pytest.raises(ConfigurationError):
        await update_corpus(delta, directory, CountingEmbedder(max_texts=2))
    assert Corpus.open(directory, EMBEDDER).version == before.version
    manifest = (await update_corpus(delta, directory, EMBEDDER)).manifest
    assert len(await list_titles_by_id(Corpus.open(directory, EMBEDDER))) == manifest.papers == 17


async def test_update_without_corpus_or_with_another_model_is_rejected(directory: Path) -> None:
    with pytest.raises(CorpusError, match="There is no corpus"):
        await update_corpus(Delta(make_records(1)), directory, EMBEDDER)
    await build(directory)
    with pytest.raises(CorpusError, match="hashed-words-64"):
        await update_corpus(Delta(make_records(1)), directory, HashingEmbedder(dimensions=64))


async def test_reader_keeps_its_version_through_updates(directory: Path) -> None:
    await build(directory)
    corpus = Corpus.open(directory, EMBEDDER)
    before = await list_titles_by_id(corpus)
    for number in range(20, 26):
        await update_corpus(Delta(make_records(number), [PaperId(f"bee-{number - 20:02}")]), directory, EMBEDDER)
    assert await list_titles_by_id(corpus) == before
    assert corpus.version in {path.name for path in (directory / "versions").iterdir()}
    corpus.close()
    await update_corpus(Delta(make_records(30)), directory, EMBEDDER)
    assert corpus.version not in {path.name for path in (directory / "versions").iterdir()}


@given(st.lists(st.tuples(st.integers(1, 500), st.floats(0, 1)), max_size=12), st.integers(1, 300))
def test_update_rewrites_segments_with_many_hidden_papers(parts: list[tuple[int, float]], new_papers: int) -> None:
    sizes = [SegmentSize(papers, int(papers * share)) for papers, share in parts]
    rewritten = choose_segments_to_rewrite(sizes, new_papers, max_papers=1000)
    kept_sizes = [size for number, size in enumerate(sizes) if number not in rewritten]
    assert all(size.live and size.hidden <= 0.3 * size.papers for size in kept_sizes)


def test_many_small_updates_leave_few_segments() -> None:
    sizes: list[SegmentSize] = [SegmentSize(100_000, 0)]
    written_count = 0
    for _ in range(365):
        rewritten = choose_segments_to_rewrite(sizes, 100, max_papers=1_000_000)
        written_count += (new_size := 100 + sum(sizes[number].live for number in rewritten))
        sizes = [*(size for number, size in enumerate(sizes) if number not in rewritten), SegmentSize(new_size, 0)]
    assert len(sizes) <= 10
    assert written_count < 365 * 100 * 20
    assert sum(size.live for size in sizes) == 100_000 + 365 * 100


def test_empty_invalid_or_contradictory_delta_is_rejected(tmp_path: Path) -> None:
    source, ids = write_jsonl(tmp_path / "papers.jsonl", RECORDS), tmp_path / "ids.txt"
    with pytest.raises(InputError, match="There is nothing to update"):
        read_delta([])
    ids.write_text("\n \n")
    with pytest.raises(InputError, match="contains no ids"):
        read_delta([source], ids)
    ids.write_text("nobody\nbee-03\n")
    with pytest.raises(InputError, match=r"removal are also in the records to add .*for example bee-03"):
        read_delta([source], ids)
    ids.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_delta([], ids)
    ids.write_text("nobody\nnobody\n")
    assert read_delta([], ids).deletions == ["nobody"]
