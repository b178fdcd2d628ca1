"""`assayer references`, as a process: without a language model and without a database."""

import json

from tests.e2e.evaluations import TWO_IDEAS
from tests.e2e.program import Program


def test_missing_references_are_listed_with_search_method(program: Program) -> None:
    ended = program.run("references", TWO_IDEAS[0], "--limit", "3")
    assert ended.code == 0, ended.err
    assert [line.strip()[:2] for line in ended.out.splitlines() if line.strip()[:2] in ("1.", "2.", "3.", "4.")] == [
        "1.",
        "2.",
        "3.",
    ]
    assert "near the idea's words" in ended.out


def test_json_lines_contain_only_ranked_papers_before_cutoff(program: Program) -> None:
    ended = program.run("references", TWO_IDEAS[0], "--json", "--cutoff", "2022-06-30")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [item["rank"] for item in lines] == list(range(1, len(lines) + 1))
    assert lines
    assert all(item["publication_date"] <= "2022-06-30" for item in lines)
    assert all(item["found"] for item in lines)


def test_missing_idea_file_is_reported(program: Program) -> None:
    ended = program.run("references", "nowhere.md")
    assert ended.code == 2
    assert "nowhere.md" in ended.err
