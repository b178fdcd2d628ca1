"""A corpus in shards, as the installed program builds, updates, describes and searches it."""

from pathlib import Path
from typing import NamedTuple

import pytest

from index import is_sharded
from tests.corpus_papers import record, write_jsonl
from tests.e2e.program import CORPUS, Ended, Homes, Program


class Done(NamedTuple):
    program: Program
    corpus: Path
    built: Ended
    updated: Ended
    told: Ended


@pytest.fixture(scope="module")
def done(homes: Homes) -> Done:
    program = homes.fresh("shards")
    corpus = program.home / "corpus"
    program = program.having(CORPUS__PATH=corpus)
    papers = [record(number, venue="Annals of Elsewhere") for number in range(3, 12)]
    built = program.run("corpus", "build", write_jsonl(program.home / "papers.jsonl", papers), "--shards", 2)
    more = write_jsonl(program.home / "more.jsonl", [record(1), record(2)])
    return Done(program, corpus, built, program.run("corpus", "update", more), program.run("corpus", "info"))


def test_sharded_corpus_is_built_updated_and_described(done: Done) -> None:
    assert (done.built.code, done.built.err) == (0, "")
    assert "9 papers in 2 shards" in done.built.out
    assert is_sharded(done.corpus)
    assert "2 new, 0 changed, 0 removed" in done.updated.out
    assert "11 papers" in done.updated.out
    assert "Shards:" in done.told.out
    assert "2 of " in done.told.out


def test_search_passes_filters_and_shows_passages(done: Done) -> None:
    asked = ("corpus", "search", "bees and flower strips", "--venue", "journal of invented pollination")
    found = done.program.run(*asked, "--snippets", "--limit", 5)
    assert (found.code, found.err) == (0, "")
    assert "bee-01" in found.out
    assert "bee-02" in found.out
    assert "We counted" in found.out
    later = done.program.run(*asked, "--after", "2012-01-01", "--without", "bee-02")
    assert "Nothing found." in later.out


def test_rebuild_of_sharded_corpus_without_shard_option_is_rejected(done: Done) -> None:
    refused = done.program.run("corpus", "build", CORPUS)
    assert refused.code == 2
    assert f"The corpus in {done.program.home / 'corpus'} is sharded. Pass --shards" in refused.err


def test_empty_date_range_is_rejected(done: Done) -> None:
    refused = done.program.run("corpus", "search", "bees", "--after", "2020-01-01", "--before", "2019-01-01")
    assert refused.code == 2
    assert "--after 2020-01-01 is later than --before 2019-01-01" in refused.err
