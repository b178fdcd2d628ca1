import asyncio
import datetime as dt
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from assayer.errors import ConfigurationError, CorpusError, InputError
from assayer.models import OPEN
from index import BuildOptions, Corpus, VersionStore, build_corpus, read_manifest
from index.segments.passages import read_locations
from index.versions.manifest import FORMAT
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.unit.index_building import CountingEmbedder
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "papers.jsonl.gz", RECORDS)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


async def test_build_publishes_a_version_that_opens(source: Path, directory: Path) -> None:
    summary = await build_corpus([source], directory, EMBEDDER)
    manifest = summary.manifest
    assert not summary.already_built
    assert manifest.papers == 14
    counts = [manifest.sum_counts(text) for text in ("dated", "full_texts", "with_references", "passages")]
    assert counts == [13, 1, 2, 3]
    assert (manifest.earliest, manifest.latest) == (dt.date(2010, 1, 15), dt.date(2021, 3, 15))
    corpus = Corpus.open(directory, EMBEDDER)
    assert corpus.version == manifest.version
    assert len(corpus) == 14


async def test_rebuild_of_the_same_sources_is_skipped(source: Path, directory: Path) -> None:
    first = await build_corpus([source], directory, EMBEDDER)
    second = await build_corpus([source], directory, CountingEmbedder(max_texts=0))
    assert second.already_built
    assert second.manifest == first.manifest


async def test_record_order_does_not_change_the_version(directory: Path, source: Path) -> None:
    first = await build_corpus([source], directory, EMBEDDER)
    reversed_source = write_jsonl(source.with_name("turned.jsonl"), RECORDS[::-1])
    second = await build_corpus([reversed_source], directory, CountingEmbedder(max_texts=0))
    assert second.manifest.version == first.manifest.version


@pytest.mark.parametrize("change", [{"title": "Another title"}, {"references": ["bee-01"]}, {"url": ""}])
async def test_changed_records_produce_a_new_version(source: Path, directory: Path, change: dict[str, object]) -> None:
    first = await build_corpus([source], directory, EMBEDDER)
    write_jsonl(source, [record(0, **change), *RECORDS[1:]])
    second = await build_corpus([source], directory, EMBEDDER)
    assert second.manifest.version != first.manifest.version
    assert Corpus.open(directory, EMBEDDER).version == second.manifest.version


async def test_changed_embedding_model_produces_a_new_version(source: Path, directory: Path) -> None:
    first = await build_corpus([source], directory, EMBEDDER)
    second = await build_corpus([source], directory, HashingEmbedder(dimensions=128))
    assert second.manifest.version != first.manifest.version
    with pytest.raises(CorpusError, match="hashed-words-128") as caught:
        Corpus.open(directory, EMBEDDER)
    assert "assayer corpus build" in caught.value.hint


async def test_build_counts_rejected_lines_and_stores_them(source: Path, directory: Path) -> None:
    source_with_rejections = write_jsonl(
        source.with_name("bad.jsonl"), [record(40), record(41, title=""), record(42, title="")]
    )
    summary = await build_corpus([source, source_with_rejections], directory, EMBEDDER)
    assert [(item.reason, item.count) for item in summary.manifest.rejected] == [("title is missing", 2)]
    assert [(rejection.source, rejection.line) for rejection in summary.rejections] == [
        ("bad.jsonl", 2),
        ("bad.jsonl", 3),
    ]
    rejected_lines = (VersionStore(directory).find_current_path() / "rejected.jsonl").read_text().splitlines()
    assert len(rejected_lines) == 2


async def test_build_reports_progress_up_to_the_total(source: Path, directory: Path) -> None:
    progress: list[tuple[int, int]] = []
    await build_corpus([source], directory, EMBEDDER, progress=lambda done, total: progress.append((done, total)))
    assert progress == sorted(progress)
    assert progress[-1][0] == progress[-1][1] > len(RECORDS)


async def test_build_from_unusable_source_keeps_current_version(source: Path, directory: Path) -> None:
    first = await build_corpus([source], directory, EMBEDDER)
    broken_source = write_jsonl(source.with_name("broken.jsonl"), ["{", "["])
    with pytest.raises(InputError):
        await build_corpus([source, broken_source], directory, EMBEDDER)
    assert Corpus.open(directory, EMBEDDER).version == first.manifest.version


async def test_interrupted_build_keeps_current_version(source: Path, directory: Path) -> None:
    first = await build_corpus([source], directory, EMBEDDER)
    write_jsonl(source, RECORDS[:-1])
    with pytest.raises(ConfigurationError):
        await build_corpus([source], directory, CountingEmbedder(max_texts=10))
    assert Corpus.open(directory, EMBEDDER).version == first.manifest.version
    assert [path.name for path in (directory / "versions").iterdir()] == [first.manifest.version]


async def test_build_during_another_build_is_rejected(source: Path, directory: Path) -> None:
    with VersionStore(directory).hold_build_lock(), pytest.raises(CorpusError, match="Another process"):
        await build_corpus([source], directory, EMBEDDER)
    assert not (await build_corpus([source], directory, EMBEDDER)).already_built


async def test_build_into_a_file_is_refused(source: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be written"):
        await build_corpus([source], source, EMBEDDER)


async def test_build_keeps_newest_versions_and_versions_open_in_readers(source: Path, directory: Path) -> None:
    versions = []
    readers = []
    for count in (10, 11, 12, 13):
        write_jsonl(source, RECORDS[:count])
        await build_corpus([source], directory, EMBEDDER, options=BuildOptions(keep=2))
        readers.append(Corpus.open(directory, EMBEDDER))
        versions.append(readers[-1].version)
    assert {path.name for path in (directory / "versions").iterdir()} == set(versions)
    answers = await asyncio.gather(*(reader.search(["wild bees"], 20, OPEN) for reader in readers))
    assert [len(hits) for (hits,) in answers] == [10, 11, 12, 13]
    for reader in readers:
        reader.close()
    write_jsonl(source, RECORDS)
    await build_corpus([source], directory, EMBEDDER, options=BuildOptions(keep=2))
    assert len(list((directory / "versions").iterdir())) == len(list((directory / "segments").iterdir())) == 2


async def test_build_replaces_version_of_another_format(source: Path, directory: Path) -> None:
    await build_corpus([source], directory, EMBEDDER)
    manifest = VersionStore(directory).find_current_path() / "manifest.json"
    manifest.write_text(manifest.read_text().replace(FORMAT, "1-of-old", 1))
    assert not (await build_corpus([source], directory, EMBEDDER)).already_built
    assert len(Corpus.open(directory, EMBEDDER)) == 14


async def test_build_of_fixed_records_matches_recorded_format(directory: Path, source: Path) -> None:
    """When this fails, builds differ: raise `_CODE` in index/versions/manifest.py, then record it here."""
    write_jsonl(source, [*RECORDS, *(record(number) for number in range(20, 60))])
    manifest = (await build_corpus([source], directory, EMBEDDER, options=BuildOptions(exact_up_to=30))).manifest
    (segment,) = manifest.segments
    places = read_locations(VersionStore(directory).get_segment_path(segment.name) / "passages")
    index, fit = segment.paper_index, manifest.fit
    assert fit is not None
    assert FORMAT.startswith("5-")
    assert (index.kind, index.rows, index.lists, fit.neighbours, fit.sample) == ("ivf_sq8", 54, 15, 5, 54)
    assert places.tolist() == [[39, 0, 0, 1008], [39, 0, 1008, 1951], [39, 1, 0, 67]]
    # Not to the last digit: sums differ a little between processors.
    assert (fit.median, fit.good_from, fit.partial_from) == pytest.approx((0.9479, 0.9131, 0.9131), abs=0.001)


async def test_build_over_a_damaged_version_repairs_it(source: Path, directory: Path) -> None:
    await build_corpus([source], directory, EMBEDDER)
    versions = VersionStore(directory)
    victim = versions.get_segment_path(read_manifest(versions.find_current_path()).segments[0].name) / "papers.arrow"
    victim.write_bytes(victim.read_bytes()[:-1] + b"x")
    with pytest.raises(CorpusError, match=r"damaged: .*papers\.arrow has changed since it was written"):
        Corpus.open(directory, EMBEDDER)
    summary = await build_corpus([source], directory, EMBEDDER)
    assert not summary.already_built
    assert len(Corpus.open(directory, EMBEDDER)) == 14


async def test_opening_version_with_missing_file_names_the_file(source: Path, directory: Path) -> None:
    await build_corpus([source], directory, EMBEDDER)
    versions = VersionStore(directory)
    (
        versions.get_segment_path(read_manifest(versions.find_current_path()).segments[0].name)
        / "papers"
        / "vectors.npy"
    ).unlink()
    with pytest.raises(CorpusError, match=r"vectors\.npy is missing"):
        Corpus.open(directory, EMBEDDER)


@pytest.mark.parametrize(
    ("text", "replacement", "message"),
    [
        (f'"format": "{FORMAT}"', '"format": "0-0"', "different release"),
        (f'"format": "{FORMAT}"', '"format": 1', "different release"),
        ('"papers": 14', '"papers": "x"', r"manifest\.json cannot be read"),
        ('"papers": 14', '"papers": 13', r"manifest\.json has changed since it was written"),
        ("{", "", r"manifest\.json cannot be read"),
    ],
)
async def test_unreadable_manifest_is_reported_with_a_hint(
    source: Path, directory: Path, text: str, replacement: str, message: str
) -> None:
    await build_corpus([source], directory, EMBEDDER)
    manifest = VersionStore(directory).find_current_path() / "manifest.json"
    manifest.write_text(manifest.read_text().replace(text, replacement, 1))
    with pytest.raises(CorpusError, match=message) as caught:
        Corpus.open(directory, EMBEDDER)
    assert "assayer corpus build" in caught.value.hint


@pytest.mark.parametrize("content", [None, "", "gone\n", "\xff"])
def test_opening_a_missing_corpus_explains_how_to_build_it(directory: Path, content: str | None) -> None:
    if content is not None:
        directory.mkdir()
        (directory / "current").write_text(content, "latin-1")
    with pytest.raises(CorpusError, match="There is no corpus") as caught:
        Corpus.open(directory, EMBEDDER)
    assert "assayer corpus build PATH" in caught.value.hint


def test_permissions_of_a_corpus_are_those_that_the_umask_allows(source: Path, directory: Path) -> None:
    code = (
        "import asyncio, os, sys; os.umask(0o022); from pathlib import Path; from index import build_corpus;"
        "from workers.embedding.hashing_embedder import HashingEmbedder;"
        "asyncio.run(build_corpus([Path(sys.argv[1])], Path(sys.argv[2]), HashingEmbedder()))"
    )
    subprocess.run([sys.executable, "-c", code, source, directory], check=True, timeout=120)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [directory, *directory.rglob("*")]}
    assert [path for path, mode in modes.items() if mode != (0o755 if path.is_dir() else 0o644)] == []
