"""Diffs upon diffs: what stands after each, however many were folded meanwhile, and whenever a run was killed."""

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from index.ingest.duckdb_tables import JoinLimits
from index.ingest.pipeline import Ingest, IngestOptions
from index.ingest.raw_compaction import compact_raw_files
from index.ingest.source_files import IngestSource, SourceKind, StoredFiles
from tests.contract.ingested import ignore, read, read_deletions

OPTIONS = IngestOptions(partitions=2, join=JoinLimits(memory_mb=256))
PAPERS = range(1, 25)
DIFFS = 11
"""More than one kind keeps apart."""

Line = Mapping[str, object]
Diff = Mapping[tuple[SourceKind, bool], Sequence[Line]]
"""Lines of each kind; True: they name what is gone."""


class Release:
    """Simulated contents of Semantic Scholar, and the diffs that produce them."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)  # noqa: S311 - draws what changes, the same each time
        self.titles: dict[int, str] = {}
        self.cites: dict[int, tuple[int, int]] = {}
        """Citing and cited paper, by citation number."""

    def publish_first(self) -> Diff:
        self.titles = {paper: f"Paper {paper}" for paper in PAPERS}
        self.cites = {number: (number, number % len(PAPERS) + 1) for number in PAPERS}
        abstracts = [{"corpusid": paper, "abstract": f"About {paper}."} for paper in PAPERS]
        citations = [_build_citation(number, *pair) for number, pair in self.cites.items()]
        papers = [{"corpusid": paper, "title": title} for paper, title in self.titles.items()]
        return {("papers", False): papers, ("abstracts", False): abstracts, ("citations", False): citations}

    def publish_next(self, number: int) -> Diff:
        """Two papers renamed, one gone, one back; one citation gone, one that leads elsewhere under its number."""
        removed_paper = self._dice.choice(sorted(self.titles))
        back = self._dice.choice([paper for paper in PAPERS if paper != removed_paper])
        renamed = {
            paper: f"Paper {paper}, {number}" for paper in {back, *self._dice.sample(PAPERS, 2)} - {removed_paper}
        }
        del self.titles[removed_paper]
        self.titles |= renamed
        lost, moved_citation = self._dice.sample(sorted(self.cites), 2)
        del self.cites[lost]
        self.cites[moved_citation] = (self.cites[moved_citation][0], self._dice.choice(PAPERS))
        return {
            ("papers", False): [{"corpusid": paper, "title": title} for paper, title in renamed.items()],
            ("papers", True): [{"corpusid": removed_paper}],
            ("citations", False): [_build_citation(moved_citation, *self.cites[moved_citation])],
            ("citations", True): [{"citationid": lost}],
        }

    @property
    def must(self) -> dict[str, tuple[str, set[str]]]:
        expected: dict[str, tuple[str, set[str]]] = {
            f"CorpusId:{paper}": (title, set()) for paper, title in self.titles.items()
        }
        for citing, cited in self.cites.values():
            if citing in self.titles:
                expected[f"CorpusId:{citing}"][1].add(f"CorpusId:{cited}")
        return expected


def _build_citation(number: int, citing: int, cited: int) -> Line:
    return {"citationid": number, "citingcorpusid": citing, "citedcorpusid": cited}


class Folder:
    def __init__(self, path: Path) -> None:
        self.to = path / "to"
        self._files = path / "files"
        self._files.mkdir()

    def write_sources(self, layer: int, diff: Diff) -> list[IngestSource]:
        return [self._write_source(layer, kind, is_removal, lines) for (kind, is_removal), lines in diff.items()]

    def _write_source(self, layer: int, kind: SourceKind, is_removal: bool, lines: Sequence[Line]) -> IngestSource:
        file = self._files / f"{kind}-{layer}-{is_removal}.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return IngestSource(kind=kind, name=file.name, address=str(file), layer=layer, seal="1", deleted=is_removal)

    async def take(self, layer: int, diff: Diff) -> None:
        ingest = Ingest(str(self.to), "s2", OPTIONS, ignore)
        await ingest.run(self.write_sources(layer, diff), StoredFiles(), str(layer))

    @property
    def records(self) -> dict[str, tuple[str, set[str]]]:
        return {record.id: (record.title, set(record.references or ())) for record, _ in read(self.to / "records")}

    def list_raw_files(self, kind: str) -> list[str]:
        return sorted(path.name for path in (self.to / "raw" / kind).iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
async def test_records_match_the_release_after_each_of_many_diffs(folder: Folder, seed: int) -> None:
    release = Release(seed)
    await folder.take(0, release.publish_first())
    before, waiting = release.must, set[str]()
    for number in range(1, DIFFS):
        await folder.take(number, release.publish_next(number))
        assert folder.records == release.must
        waiting |= before.keys()
        assert read_deletions(folder.to) == waiting - release.must.keys(), "nobody has taken any yet"
        before = release.must
    assert len(folder.list_raw_files("papers")) < DIFFS
    assert any(name.startswith("folded-") for name in folder.list_raw_files("papers"))
    assert len(folder.list_raw_files("abstracts")) == 1, "a kind of one layer has nothing to fold"


async def _take_many(folder: Folder, release: Release) -> Path:
    """Taken in up to the diff before the one that folds; returns a copy of the raw files."""
    await folder.take(0, release.publish_first())
    for number in range(1, 8):
        await folder.take(number, release.publish_next(number))
    assert not any(name.startswith("folded-") for name in folder.list_raw_files("papers"))
    return Path(shutil.copytree(folder.to / "raw", folder.to.with_name("raw-before")))


async def test_leftover_raw_files_from_killed_compaction_are_ignored(folder: Folder) -> None:
    release = Release(3)
    before = await _take_many(folder, release)
    diff = release.publish_next(8)
    await folder.take(8, diff)
    assert [name[:7] for name in folder.list_raw_files("papers")] == ["folded-"]
    for remaining_file in sorted((before / "papers").iterdir())[2:5]:
        shutil.copytree(remaining_file, folder.to / "raw" / "papers" / remaining_file.name)
    await folder.take(8, diff)
    assert folder.records == release.must
    assert [name[:7] for name in folder.list_raw_files("papers")] == ["folded-"]


@pytest.mark.slow
async def test_compaction_killed_before_completion_marker_is_repeated(folder: Folder) -> None:
    release = Release(4)
    before = await _take_many(folder, release)
    diff = release.publish_next(8)
    await folder.take(8, diff)
    (folded,) = (folder.to / "raw" / "papers").iterdir()
    (folded / "source.json").unlink()
    shutil.copytree(before / "papers", folder.to / "raw" / "papers", dirs_exist_ok=True)
    await folder.take(8, diff)  # the last file was not copied back: it is missing, and read again
    assert folder.records == release.must
    assert [name[:7] for name in folder.list_raw_files("papers")] == ["folded-"]


async def test_full_release_replaces_compacted_files(folder: Folder) -> None:
    release = Release(5)
    first = release.publish_first()
    original = release.must
    await folder.take(0, first)
    for number in range(1, 9):
        await folder.take(number, release.publish_next(number))
    assert folder.records != original
    ingest = Ingest(str(folder.to), "s2", OPTIONS, ignore)
    await ingest.run(folder.write_sources(0, first), StoredFiles(), complete=True)
    assert folder.records == original
    assert ingest.state.until == "", "nobody said of which release these files are"


async def test_compacting_compacted_files_changes_nothing(folder: Folder) -> None:
    release = Release(6)
    await _take_many(folder, release)
    await folder.take(8, release.publish_next(8))
    ingest = Ingest(str(folder.to), "s2", OPTIONS, ignore)
    files = _read_contents(folder.to / "raw")
    compact_raw_files(ingest.root, OPTIONS.join, lambda _done, _total: None)
    assert _read_contents(folder.to / "raw") == files


def _read_contents(path: Path) -> dict[str, Any]:
    return {str(item.relative_to(path)): item.read_bytes() for item in path.rglob("*") if item.is_file()}
