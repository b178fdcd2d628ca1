"""`assayer references`, as a process: without a language model and without a database."""

import json

from tests.e2e.evaluations import TWO_IDEAS
from tests.e2e.program import Program


def test_papers_that_an_idea_does_not_name_are_listed_with_how_they_were_found(program: Program) -> None:
    ended = program.run("references", TWO_IDEAS[0], "--limit", "3")
    assert ended.code == 0, ended.err
    assert [line.strip()[:2] for line in ended.out.splitlines() if line.strip()[:2] in ("1.", "2.", "3.", "4.")] == [
        "1.",
        "2.",
        "3.",
    ]
    assert "near the idea's words" in ended.out


def test_lines_of_json_name_papers_of_the_corpus_before_the_cutoff(program: Program) -> None:
    ended = program.run("references", TWO_IDEAS[0], "--json", "--cutoff", "2022-06-30")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [item["rank"] for item in lines] == list(range(1, len(lines) + 1))
    assert lines
    assert all(item["publication_date"] <= "2022-06-30" for item in lines)
    assert all(item["found"] for item in lines)


def test_a_file_that_is_no_idea_is_named(program: Program) -> None:
    ended = program.run("references", "nowhere.md")
    assert ended.code == 2
    assert "nowhere.md" in ended.err
