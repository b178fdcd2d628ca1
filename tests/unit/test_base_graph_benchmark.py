"""What walks and contents cost is measured on corpora of the size asked for: simulated, and real records."""

import argparse
import asyncio
from pathlib import Path

import pytest

from benchmarks.base_graph.__main__ import real_papers, simulated_papers
from benchmarks.base_graph.simulated import HUB, simulated
from benchmarks.base_graph.walking import median_and_p95, timed, walked
from benchmarks.quality.citations.records import Graph
from tests.corpus_papers import RECORDS


def test_simulated_papers_cite_each_other_and_one_work_is_cited_by_all(tmp_path: Path) -> None:
    made = simulated(1_000, tmp_path / "papers")
    assert (len(made.reader), made.citations) == (1_000, 20_000)
    (segment,) = made.reader.segments
    assert segment.contents is not None
    cited = [made.reader.paper(unit).id for unit in (HUB, 900)]
    found = made.reader.units_of(cited)
    assert list(found.values()) == [HUB, 900]
    spent = asyncio.run(walked(made.reader, [[HUB, 900], [1, 2, 3]], 2))
    assert len(spent.wall) == len(spent.cpu) == 2


def test_walks_that_find_nothing_are_no_measurement(tmp_path: Path) -> None:
    reader = simulated(500, tmp_path / "papers").reader
    with pytest.raises(ValueError, match="found nothing"):
        asyncio.run(walked(reader, [[]], 1))


def test_simulated_report_tells_sizes_walks_contents_and_memory(tmp_path: Path) -> None:
    lines = list(simulated_papers(tmp_path, argparse.Namespace(simulated=1_000, walks=2)))
    assert lines[0].startswith("1,000 simulated papers, 20,000 citations: written in")
    assert "names and claims:" in lines[1]
    assert sum(line.startswith("walk, ") for line in lines) == 7
    assert lines[-1].startswith("memory: ")


def test_real_papers_are_built_walked_and_read_however_few_they_are(tmp_path: Path) -> None:
    lines = list(real_papers(Graph(RECORDS, {}), tmp_path / "real", 2))
    assert lines[0].startswith(f"{len(RECORDS)} real papers: ")
    assert f"walk, 1 hops, 2 × {len(RECORDS)} seeds, first time:" in "\n".join(lines)
    assert lines[-1].startswith("contents of ")


def test_turns_are_timed_one_by_one_and_told_by_median_and_95th_percentile() -> None:
    turns: list[int] = []
    spent = timed([lambda: turns.append(1), lambda: turns.append(2)])
    assert turns == [1, 2]
    assert len(spent.wall) == len(spent.cpu) == 2
    assert median_and_p95([1.0, 2.0, 3.0]) == "2.0 / 2.9 ms"
