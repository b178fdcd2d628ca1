"""A corpus in shards answers as one that is not."""

import datetime as dt
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from assayer.errors import CorpusError
from assayer.models import OPEN, Hit, PaperId, Window
from assayer.ports import Vectors
from index import BuildOptions, Corpus, Delta, Filters, VersionStore, build_corpus, build_shards, update_shards
from index.building.acceptance import Acceptance
from index.shards.shard_store import ShardStore, assign_shards, is_sharded
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.unit.index_building import make_records
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
SHARDS = 3
WORDS = ("bees", "moths", "clover", "meadow", "nectar", "hedge")
IDS = [PaperId(str(item["id"])) for item in RECORDS]


async def build_whole_and_sharded(folder: Path, papers: Sequence[dict[str, Any]], shards: int) -> tuple[Corpus, Corpus]:
    """Build the same papers as a single corpus and in shards."""
    source = write_jsonl(folder / "papers.jsonl", papers)
    await build_corpus([source], folder / "whole", EMBEDDER)
    await build_shards([source], shards, folder / "sharded", EMBEDDER)
    return Corpus.open(folder / "whole", EMBEDDER), Corpus.open(folder / "sharded", EMBEDDER)


@pytest.fixture
async def sharded(tmp_path: Path) -> Path:
    directory = tmp_path / "sharded"
    await build_shards([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], SHARDS, directory, EMBEDDER)
    return directory


def list_similarities(hits: Sequence[Hit]) -> list[tuple[float, str]]:
    """Return similarities and ids, ordered by id where similarities are equal."""
    return sorted((-hit.similarity, hit.paper.id) for hit in hits)


def draw_paper_records() -> st.SearchStrategy[list[dict[str, Any]]]:
    paper_record = st.builds(
        lambda words, day, cited: {
            "title": " ".join(words[:3]),
            "abstract": " ".join(words) + " are counted.",
            "publication_date": day and day.isoformat(),
            "references": cited and [f"p{number}" for number in cited],
        },
        words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12),
        day=st.none() | st.dates(dt.date(2010, 1, 1), dt.date(2012, 12, 31)),
        cited=st.none() | st.lists(st.integers(0, 30), max_size=5, unique=True),
    )
    return st.lists(paper_record, min_size=1, max_size=30).map(
        lambda papers: [paper | {"id": f"p{number}"} for number, paper in enumerate(papers)]
    )


@settings(max_examples=8, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    papers=draw_paper_records(),
    shards=st.integers(1, 4),
    window=st.builds(Window.until, st.none() | st.dates(dt.date(2010, 1, 1), dt.date(2013, 1, 1))),
)
async def test_sharded_results_match_the_unsharded_corpus(
    papers: list[dict[str, Any]], shards: int, window: Window
) -> None:
    with TemporaryDirectory() as folder:
        whole_corpus, sharded_corpus = await build_whole_and_sharded(Path(folder), papers, shards)
        ids = [PaperId(paper["id"]) for paper in papers] + [PaperId("unknown")]
        filters = Filters(window=window)
        query_vectors = await EMBEDDER.embed(["bees in a meadow", "hedge"], "query")
        for limit in (3, 100):
            exact = await whole_corpus.find_nearest(query_vectors, limit, filters)
            merged = await sharded_corpus.find_nearest(query_vectors, limit, filters)
            for item, merged_hit in zip(exact, merged, strict=True):
                assert item.similarities.tolist() == merged_hit.similarities.tolist()
        expected_neighbours = {
            item: list_similarities(hits) for item, hits in (await whole_corpus.neighbours(ids, 100, window)).items()
        }
        assert {
            item: list_similarities(hits) for item, hits in (await sharded_corpus.neighbours(ids, 100, window)).items()
        } == expected_neighbours
        assert await sharded_corpus.papers(ids, window) == await whole_corpus.papers(ids, window)
        assert await sharded_corpus.references(ids, 100, window) == await whole_corpus.references(ids, 100, window)
        citing = {
            item: {paper.id for paper in papers_citing}
            for item, papers_citing in (await whole_corpus.citing(ids, 100, window)).items()
        }
        assert {
            item: {p.id for p in papers_citing}
            for item, papers_citing in (await sharded_corpus.citing(ids, 100, window)).items()
        } == citing
        assert await sharded_corpus.similarity("bees", ids) == await whole_corpus.similarity("bees", ids)
        assert await sharded_corpus.full_texts(ids) == await whole_corpus.full_texts(ids)
        assert [sharded_corpus.get_newest_date(day) for day in (OPEN, window)] == [
            whole_corpus.get_newest_date(day) for day in (OPEN, window)
        ]
        (sharded_hits,), (whole_hits,) = (
            await sharded_corpus.search(["bees"], 100, window),
            await whole_corpus.search(["bees"], 100, window),
        )
        assert list_similarities(sharded_hits) == list_similarities(whole_hits)
        whole_corpus.close()
        sharded_corpus.close()


async def test_papers_are_assigned_to_shards_by_hash(sharded: Path) -> None:
    owners = assign_shards(IDS, SHARDS).tolist()
    manifest = ShardStore(sharded).read_manifest()
    assert [item.papers for item in manifest.shards] == [owners.count(number) for number in range(SHARDS)]
    for number in range(SHARDS):
        with closing(Corpus.open(ShardStore(sharded).get_shard_path(number), EMBEDDER)) as shard:
            assert set(await shard.papers(IDS, OPEN)) == {
                item for item, owner in zip(IDS, owners, strict=True) if owner == number
            }


async def test_sharded_update_adds_changes_and_removes_papers(sharded: Path) -> None:
    before = ShardStore(sharded).read_manifest()
    delta = Delta(
        [*make_records(20, 21, 4), *make_records(3, title="About lichens")], [PaperId("bee-07"), PaperId("nobody")]
    )
    update = await update_shards(delta, sharded, EMBEDDER)
    assert (update.changes.new, update.changes.changed, update.changes.unchanged) == (2, 1, 1)
    assert (update.changes.before, update.changes.removed, update.changes.unknown) == (before.version, 1, 1)
    with closing(Corpus.open(sharded, EMBEDDER)) as corpus:
        assert corpus.version == update.manifest.version != before.version
        papers = await corpus.papers([PaperId("bee-20"), PaperId("bee-03"), PaperId("bee-07")], OPEN)
        assert {item: paper.title for item, paper in papers.items()}.keys() == {"bee-20", "bee-03"}
        assert papers[PaperId("bee-03")].title == "About lichens"


async def test_update_without_changes_publishes_nothing(sharded: Path) -> None:
    before = ShardStore(sharded).read_manifest()
    update = await update_shards(Delta(make_records(3), [PaperId("nobody")]), sharded, EMBEDDER)
    assert not update.published
    assert ShardStore(sharded).read_manifest() == before


async def test_interrupted_sharded_update_keeps_old_version_and_can_be_rerun(sharded: Path) -> None:
    before = ShardStore(sharded).read_manifest()
    paper_numbers = range(40, 60)
    owners = assign_shards([f"bee-{number}" for number in paper_numbers], SHARDS).tolist()
    assert set(owners) == set(range(SHARDS))

    first = VersionStore(ShardStore(sharded).get_shard_path(0))

    class FailingEmbedder(HashingEmbedder):
        async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
            if first.read_current_version() != before.shards[0].version:
                raise CorpusError("The machine is gone.")
            return await super().embed(texts, kind)

    with pytest.raises(CorpusError, match="gone"):
        await update_shards(Delta(make_records(*paper_numbers)), sharded, FailingEmbedder())
    assert first.read_current_version() != before.shards[0].version
    with closing(Corpus.open(sharded, EMBEDDER)) as corpus:
        assert (corpus.version, len(corpus)) == (before.version, len(RECORDS))
        assert not await corpus.papers([PaperId(f"bee-{number}") for number in paper_numbers], OPEN)
    other_records = make_records(70, title="Another night")
    update = await update_shards(Delta(other_records), sharded, EMBEDDER)
    with closing(Corpus.open(sharded, EMBEDDER)) as corpus:
        assert len(corpus) == update.manifest.papers == len(RECORDS) + 1
    await update_shards(Delta(make_records(*paper_numbers)), sharded, EMBEDDER)
    with closing(Corpus.open(sharded, EMBEDDER)) as corpus:
        assert len(await corpus.papers([PaperId(f"bee-{number}") for number in paper_numbers], OPEN)) == len(
            paper_numbers
        )


async def test_version_in_use_is_kept_until_its_reader_closes(sharded: Path) -> None:
    keep = BuildOptions(keep=1)
    reader = Corpus.open(sharded, EMBEDDER)
    for number in range(3):
        await update_shards(Delta(make_records(3, title=f"Title {number}")), sharded, EMBEDDER, options=keep)
    assert (await reader.papers([PaperId("bee-03")], OPEN))[PaperId("bee-03")].title == make_records(3)[0].title
    with closing(Corpus.open(sharded, EMBEDDER, reader.version)) as reopened:
        assert (await reopened.search(["bees"], 20, OPEN)) == (await reader.search(["bees"], 20, OPEN))
    reader.close()
    await update_shards(Delta(make_records(3, title="The last")), sharded, EMBEDDER, options=keep)
    with pytest.raises(CorpusError):
        Corpus.open(sharded, EMBEDDER, reader.version)
    assert len(os.listdir(sharded / "versions")) == 1
    assert [len(os.listdir(ShardStore(sharded).get_shard_path(number) / "versions")) for number in range(SHARDS)] == [
        1
    ] * SHARDS


async def test_rebuilding_shards_from_same_sources_is_skipped_until_updated(sharded: Path) -> None:
    rebuilt = await build_shards([sharded.parent / "papers.jsonl"], SHARDS, sharded, EMBEDDER)
    assert rebuilt.already_built
    await update_shards(Delta(make_records(20)), sharded, EMBEDDER)
    rebuilt_after_update = await build_shards([sharded.parent / "papers.jsonl"], SHARDS, sharded, EMBEDDER)
    assert (rebuilt_after_update.already_built, rebuilt_after_update.manifest.version) == (
        False,
        rebuilt.manifest.version,
    )


async def test_build_with_different_shard_count_is_rejected(sharded: Path, tmp_path: Path) -> None:
    source = sharded.parent / "papers.jsonl"
    with pytest.raises(CorpusError, match="has 3 shards, not 4"):
        await build_shards([source], 4, sharded, EMBEDDER)
    await build_corpus([source], tmp_path / "whole", EMBEDDER)
    with pytest.raises(CorpusError, match="is not sharded"):
        await build_shards([source], 4, tmp_path / "whole", EMBEDDER)
    assert is_sharded(sharded)
    assert not is_sharded(tmp_path / "whole")


@pytest.mark.parametrize("damaged_part", ["shard", "whole"])
async def test_damaged_shard_or_manifest_is_detected(sharded: Path, damaged_part: str) -> None:
    shards = ShardStore(sharded)
    if damaged_part == "whole":
        path = shards.versions.find_current_path() / "manifest.json"
        path.write_text(path.read_text().replace('"papers": ', '"papers": 1'))
    else:
        path = next((shards.get_shard_path(1) / "segments").rglob("papers.arrow"))
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(CorpusError, match="damaged"):
        Corpus.open(sharded, EMBEDDER)


async def test_shards_without_papers_are_updated_like_others(tmp_path: Path) -> None:
    source, directory = write_jsonl(tmp_path / "papers.jsonl", RECORDS[:1]), tmp_path / "sharded"
    await build_shards([source], SHARDS, directory, EMBEDDER)
    with closing(Corpus.open(directory, EMBEDDER)) as corpus:
        (hits,) = await corpus.search(["bees"], 5, OPEN)
        assert [hit.paper.id for hit in hits] == IDS[:1]
    await update_shards(Delta(make_records(*range(12))), directory, EMBEDDER)
    with closing(Corpus.open(directory, EMBEDDER)) as corpus:
        assert len(await corpus.papers(IDS, OPEN)) == 12


async def publish_versions(directory: Path, count: int) -> list[str]:
    """Publish `count` updates and return all versions; none is removed."""
    versions = [VersionStore(directory).read_current_version()]
    for number in range(count):
        changed = Delta(make_records(3, title=f"Title {number}"))
        versions.append(
            (await update_shards(changed, directory, EMBEDDER, options=BuildOptions(keep=9))).manifest.version
        )
    return versions


@pytest.mark.parametrize("remaining_files", [["manifest.json.sha256"], []])
async def test_update_completes_interrupted_removal_of_old_version(sharded: Path, remaining_files: list[str]) -> None:
    first, *later_versions = await publish_versions(sharded, 2)
    old_version = sharded / "versions" / first
    for path in old_version.iterdir():
        if path.name not in remaining_files:
            path.unlink()
    update = await update_shards(Delta(make_records(4, title="T")), sharded, EMBEDDER, options=BuildOptions(keep=3))
    kept_versions = sorted([*later_versions, update.manifest.version])
    assert sorted(os.listdir(sharded / "versions")) == kept_versions, "it takes the place of none that is whole"
    assert len(os.listdir(ShardStore(sharded).get_shard_path(0) / "versions")) <= 3
    for version in kept_versions:
        Corpus.open(sharded, EMBEDDER, version).close()


async def test_update_removes_version_of_another_release(sharded: Path) -> None:
    first, _ = await publish_versions(sharded, 1)
    manifest = sharded / "versions" / first / "manifest.json"
    manifest.write_text(manifest.read_text().replace("shards-1", "shards-0"))
    await update_shards(Delta(make_records(4, title="T")), sharded, EMBEDDER, options=BuildOptions(keep=3))
    assert first not in os.listdir(sharded / "versions")


@pytest.mark.parametrize("removed", [1, 10])
async def test_sharded_update_may_remove_a_tenth_of_the_corpus(tmp_path: Path, removed: int) -> None:
    directory, papers = tmp_path / "corpus", [record(number) for number in range(100)]
    summary = await build_shards([write_jsonl(tmp_path / "p.jsonl", papers)], 16, directory, EMBEDDER)
    fewest = min(range(16), key=lambda number: summary.manifest.shards[number].papers)
    owners = assign_shards([paper["id"] for paper in papers], 16).tolist()
    removed_papers = sorted(papers, key=lambda paper: owners[papers.index(paper)] != fewest)[:removed]
    assert summary.manifest.shards[fewest].papers < 10, "else a tenth of the shard stays a tenth"
    delta = Delta([], [PaperId(item["id"]) for item in removed_papers])
    update = await update_shards(delta, directory, EMBEDDER, accept=Acceptance(EMBEDDER, 100, delta.deletions))
    assert update.manifest.papers == 100 - removed
    with closing(Corpus.open(directory, EMBEDDER)) as corpus:
        assert len(corpus) == 100 - removed


async def test_excessive_sharded_removal_is_refused_but_works_without_acceptance_check(tmp_path: Path) -> None:
    directory, papers = tmp_path / "corpus", [record(number) for number in range(100)]
    summary = await build_shards([write_jsonl(tmp_path / "p.jsonl", papers)], 16, directory, EMBEDDER)
    delta = Delta([], [PaperId(paper["id"]) for paper in papers[:11]])
    with pytest.raises(CorpusError, match="would leave only 89 of 100 papers") as raised:
        await update_shards(delta, directory, EMBEDDER, accept=Acceptance(EMBEDDER, 100, delta.deletions))
    assert str(directory / "shards") not in str(raised.value)
    assert VersionStore(directory).read_current_version() == summary.manifest.version
    by_hand = await update_shards(delta, directory, EMBEDDER)
    assert by_hand.manifest.papers == 89
