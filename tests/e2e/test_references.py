"""`assayer references`, as a process: without a language model and without a database."""

import json
from pathlib import Path

import pytest

from assayer.reference_lists.bibliography_files import read_bibliography
from tests.e2e.evaluations import TWO_IDEAS
from tests.e2e.program import CORPUS, Program


def test_missing_references_are_listed_with_search_method(program: Program) -> None:
    result = program.run("references", TWO_IDEAS[0], "--limit", "3")
    assert result.code == 0, result.err
    assert [line.strip()[:2] for line in result.out.splitlines() if line.strip()[:2] in ("1.", "2.", "3.", "4.")] == [
        "1.",
        "2.",
        "3.",
    ]
    assert "near the idea's words" in result.out


def test_json_contains_only_ranked_papers_before_cutoff(program: Program) -> None:
    result = program.run("references", TWO_IDEAS[0], "--json", "--cutoff", "2022-06-30")
    lines = json.loads(result.out)
    assert [item["rank"] for item in lines] == list(range(1, len(lines) + 1))
    assert lines
    assert all(item["publication_date"] <= "2022-06-30" for item in lines)
    assert all(item["search_paths"] for item in lines)


@pytest.mark.parametrize("kind", ["bibtex", "ris"])
def test_bibliography_names_the_same_papers_as_the_lines(program: Program, kind: str) -> None:
    lines = json.loads(program.run("references", TWO_IDEAS[0], "--json").out)
    entries = read_bibliography(program.run("references", TWO_IDEAS[0], "--format", kind).out, kind).entries
    assert [entry.work.title for entry in entries] == [item["title"].rstrip(".") for item in lines]
    assert [str(entry.work.year) for entry in entries] == [item["publication_date"][:4] for item in lines]
    assert all(entry.work.authors for entry in entries)


def test_check_writes_the_corrected_list_beside_no_other_format(program: Program, tmp_path: Path) -> None:
    known = json.loads(CORPUS.read_text("utf-8").partition("\n")[0])
    text = TWO_IDEAS[0].read_text("utf-8")
    plan = tmp_path / "plan.md"
    plan.write_text(f"{text}\n\n## References\n\n[1] Poe, T. {known['title']}. 1991.\n", "utf-8")
    result = program.run("check", str(plan), "--format", "bibtex", "--format", "ris", "--out", str(tmp_path / "out"))
    assert result.code == 0, result.err
    bib, ris = sorted((tmp_path / "out").iterdir())
    assert (bib.suffix, ris.suffix) == (".bib", ".ris")
    for path in (bib, ris):
        (entry,) = read_bibliography(path.read_text("utf-8"), path.name).entries
        assert entry.work.title == known["title"]
        assert entry.work.year == int(known["publication_date"][:4])


def test_missing_idea_file_is_reported(program: Program) -> None:
    result = program.run("references", "nowhere.md")
    assert result.code == 2
    assert "nowhere.md" in result.err
