"""Nights of the installed program: one that publishes, one that fails, and what the history says of both."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from index import VersionStore
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWriter
from simulator.datasets.process import SimulatedDatasets
from simulator.datasets.server import KEY
from tests.contract.ingested import FIRST, SECOND
from tests.corpus_papers import record
from tests.e2e.program import Ended, Homes


class Nights(NamedTuple):
    good: Ended
    bad: Ended
    history: list[dict[str, Any]]
    told: Ended
    corpus: Path
    before: str


@pytest.fixture(scope="module")
def nights(homes: Homes) -> Nights:
    program = homes.create_home("nightly")
    corpus, ingest = program.home / "corpus", program.home / "ingest"
    shutil.copytree(homes.corpus, corpus)
    program, before = program.with_settings(CORPUS__PATH=corpus), VersionStore(corpus).read_current_version()
    (ingest / "upserts").mkdir(parents=True)
    with RecordWriter(ingest / "upserts" / "part-00000.parquet") as file:
        file.write(PaperRecord.model_validate(record(1)))
    (ingest / "deletions.txt").write_text("nobody\n")
    good = program.run("corpus", "nightly", ingest, "--no-fetch", "--usd-per-hour", "36")
    bad = program.run("corpus", "nightly", program.home / "nowhere", "--no-fetch")
    history = program.run("corpus", "history", "--json")
    return Nights(
        good, bad, json.loads(history.out), program.run("corpus", "history"), corpus,
        before,
    )  # fmt: skip


def test_nightly_update_publishes_new_version_and_reports_changes(nights: Nights) -> None:
    assert (nights.good.code, nights.good.err) == (0, "")
    assert "1 new, 0 changed, 0 removed, 0 unchanged; 1 texts embedded. 85 papers" in nights.good.out
    assert VersionStore(nights.corpus).read_current_version() != nights.before


def test_failed_nightly_update_reports_reason_and_exits_with_2(nights: Nights) -> None:
    assert (nights.bad.code, nights.bad.out) == (2, "")
    assert nights.bad.err.startswith("Error: There is no folder")
    assert len(nights.bad.err.splitlines()) == 1


def test_history_lists_successful_and_failed_updates(nights: Nights) -> None:
    good, bad = nights.history
    assert (good["outcome"], good["before"], good["papers"], good["unknown"]) == ("published", nights.before, 85, 1)
    assert good["usd"] == pytest.approx(good["seconds"] / 100, abs=0.001)
    assert (bad["outcome"], bad["after"]) == ("failed", good["after"])
    assert bad["why"] in nights.bad.err
    assert nights.told.code == 0
    assert "There is no folder" in nights.told.out


def test_history_fits_80_columns_with_every_cell_whole(nights: Nights) -> None:
    header, good, bad, *_ = nights.told.out.splitlines()
    assert header.split() == ["Began", "(UTC)", "Outcome", "Papers", "New", "Changed", "Removed", "Seconds"]
    assert [row.split()[2:7] for row in (good, bad)] == [
        ["published", "85", "1", "0", "0"],
        ["failed", "85", "0", "0", "0"],
    ]
    assert max(map(len, (header, good, bad))) <= 80


def test_nightly_update_fetches_source_changes_and_applies_them(homes: Homes) -> None:
    with SimulatedDatasets() as services:
        program = homes.create_home("fetching").with_settings(
            S2__BASE_URL=services.base_url,
            S2__API_KEY=KEY,
            S2__SPACING_SECONDS=0,
            FETCHING__ALLOW="127.0.0.0/8",
            INGEST__PARTITIONS=4,
        )
        program = program.with_settings(CORPUS__PATH=program.home / "corpus")
        ingest = program.home / "ingest"
        assert program.run("corpus", "ingest", "s2", "--to", ingest).code == 0
        assert program.run("corpus", "build", ingest / "records").code == 0
        services.change_edition(2)
        night = program.run("corpus", "nightly", ingest)
        again = program.run("corpus", "nightly", ingest)
    assert (night.code, night.err) == (0, "")
    first, second = ({paper.entry.corpus_id for paper in edition.papers.values()} for edition in (FIRST, SECOND))
    assert f"{len(second - first)} new" in night.out
    assert f"{len(first - second)} removed" in night.out
    assert f"{len(second)} papers" in night.out
    assert again.out.startswith("Nothing has changed")
