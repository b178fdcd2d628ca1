"""A corpus in shards, as the installed program builds, updates, describes and searches it."""

from pathlib import Path
from typing import NamedTuple

import pytest

from index import is_sharded
from tests.corpus_papers import record, write_jsonl
from tests.e2e.program import CORPUS, Ended, Homes, Program


class ShardedRuns(NamedTuple):
    program: Program
    corpus: Path
    built: Ended
    updated: Ended
    info: Ended


@pytest.fixture(scope="module")
def sharded_runs(homes: Homes) -> ShardedRuns:
    program = homes.create_home("shards")
    corpus = program.home / "corpus"
    program = program.with_settings(CORPUS__PATH=corpus)
    papers = [record(number, venue="Annals of Elsewhere") for number in range(3, 12)]
    build = program.run("corpus", "build", write_jsonl(program.home / "papers.jsonl", papers), "--shards", 2)
    more = write_jsonl(program.home / "more.jsonl", [record(1), record(2)])
    return ShardedRuns(program, corpus, build, program.run("corpus", "update", more), program.run("corpus", "info"))


def test_sharded_corpus_is_built_updated_and_described(sharded_runs: ShardedRuns) -> None:
    assert (sharded_runs.built.code, sharded_runs.built.err) == (0, "")
    assert "9 papers in 2 shards" in sharded_runs.built.out
    assert is_sharded(sharded_runs.corpus)
    assert "2 new, 0 changed, 0 removed" in sharded_runs.updated.out
    assert "11 papers" in sharded_runs.updated.out
    assert "Shards:" in sharded_runs.info.out
    assert "2 of " in sharded_runs.info.out


def test_search_passes_filters_and_shows_passages(sharded_runs: ShardedRuns) -> None:
    search = ("corpus", "search", "bees and flower strips", "--venue", "journal of invented pollination")
    hits = sharded_runs.program.run(*search, "--snippets", "--limit", 5)
    assert (hits.code, hits.err) == (0, "")
    assert "bee-01" in hits.out
    assert "bee-02" in hits.out
    assert "We counted" in hits.out
    later_hits = sharded_runs.program.run(*search, "--after", "2012-01-01", "--without", "bee-02")
    assert "Nothing found." in later_hits.out


def test_rebuild_of_sharded_corpus_without_shard_option_is_rejected(sharded_runs: ShardedRuns) -> None:
    refusal = sharded_runs.program.run("corpus", "build", CORPUS)
    assert refusal.code == 2
    assert f"The corpus in {sharded_runs.program.home / 'corpus'} is sharded. Pass --shards" in refusal.err


def test_empty_date_range_is_rejected(sharded_runs: ShardedRuns) -> None:
    refusal = sharded_runs.program.run("corpus", "search", "bees", "--after", "2020-01-01", "--before", "2019-01-01")
    assert refusal.code == 2
    assert "--after 2020-01-01 is later than --before 2019-01-01" in refusal.err
