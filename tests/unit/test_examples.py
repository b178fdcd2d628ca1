import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assayer.text.sanitise import sanitise
from workers.documents.idea_reader import read_ideas

EXAMPLES = Path(__file__).parents[2] / "examples"
CORPUS = EXAMPLES / "corpus.jsonl"

Record = dict[str, Any]


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


def test_every_record_says_that_it_is_invented(records: dict[str, Record]) -> None:
    for id_, record in records.items():
        assert record["venue"] == "Assayer example corpus (invented)"
        assert record["url"] == f"https://example.org/papers/{id_}"


def test_records_carry_the_documented_fields(records: dict[str, Record]) -> None:
    fields = {
        "id", "title", "abstract", "authors", "year", "publication_date", "venue", "url", "keywords",
        "citation_count", "references",
    }  # fmt: skip
    for record in records.values():
        assert record.keys() - {"sections"} == fields
        assert dt.date.fromisoformat(record["publication_date"]).year == record["year"]
        assert 2016 <= record["year"] <= 2025
        assert record["authors"]


def test_references_exist_and_are_older_than_the_citing_paper(records: dict[str, Record]) -> None:
    for record in records.values():
        for reference in record["references"]:
            assert records[reference]["publication_date"] < record["publication_date"]


def test_citation_counts_match_references_within_corpus(records: dict[str, Record]) -> None:
    cited = Counter(reference for record in records.values() for reference in record["references"])
    assert {id_: record["citation_count"] for id_, record in records.items()} == {id_: cited[id_] for id_ in records}


def test_sanitiser_flags_nothing_in_example_corpus(records: dict[str, Record]) -> None:
    for record in records.values():
        texts = [record["title"], record["abstract"], *(section["text"] for section in record.get("sections", []))]
        assert all(sanitise(text) == (text, ()) for text in texts)


async def test_example_ideas_are_read_with_all_sections(records: dict[str, Record]) -> None:
    ideas, rejected = await read_ideas([EXAMPLES / "ideas"])
    assert not rejected
    assert [Path(idea.source).name for idea in ideas] == [
        "coral-acoustics.txt",
        "pairwise-idea-ranking.json",
        "quote-then-abstain.md",
    ]
    for idea in ideas:
        assert [section.title.split()[0] for section in idea.sections] == ["Problem", "Method", "Experiment"]
        assert not idea.flags


async def test_cutoff_of_ranking_idea_excludes_a_corpus_paper(records: dict[str, Record]) -> None:
    (idea,), _ = await read_ideas([EXAMPLES / "ideas" / "pairwise-idea-ranking.json"])
    assert idea.cutoff is not None
    later = [id_ for id_, record in records.items() if record["publication_date"] > idea.cutoff.isoformat()]
    assert "ex-2025-fewer-comparisons" in later
