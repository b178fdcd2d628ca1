"""`--json`: one document on standard output, whatever the command would say there to people."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
import typer

from assayer.errors import InputError
from cluster.cli.terminal import Outcome
from tests.contract.command_line import CommandLine, command_line
from tests.corpus_papers import record, write_jsonl

__all__ = ["command_line"]

_PLAN = """
folder = "out"
[policy]
model = "models/policy"
[data]
file = "questions.jsonl"
[grpo]
steps = 3
questions = 1
generations = 2
"""


def _end_with(error: Exception) -> None:
    with suppress(type(error)), Outcome(as_json=True) as outcome:
        outcome.add("Two papers, [bold]one[/] of them read.", papers=2, file=Path("x"))
        raise error


def test_facts_are_printed_if_the_command_ends_with_an_exit_code_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    _end_with(typer.Exit(1))
    assert json.loads(capsys.readouterr().out) == {"papers": 2, "file": "x"}


def test_nothing_is_printed_before_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    _end_with(InputError("The third is missing."))
    assert capsys.readouterr().out == ""


def test_ingest_prints_its_counts(command_line: CommandLine) -> None:
    write_jsonl(Path("papers.jsonl"), [record(0), {"id": "no-title"}])
    result = command_line("corpus", "ingest", "jsonl", "papers.jsonl", "--to", "ingested", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert (document["taken"], document["rows"], document["records"]) == (1, 1, 1)
    assert [item["count"] for item in document["rejected"]] == [1]


def test_table_of_papers_is_refused_with_a_remedy(command_line: CommandLine) -> None:
    Path("dimensions.csv").write_text("Publication ID,Title\npub.7,Scores of plans\n")
    result = command_line("corpus", "ingest", "jsonl", "dimensions.csv", "--to", "ingested")
    assert result.code == 2
    assert "dimensions.csv is a spreadsheet" in " ".join(result.err.split())
    assert "one JSON object per row" in " ".join(result.err.split())


def test_check_of_a_training_plan_prints_what_training_would_do(command_line: CommandLine) -> None:
    Path("models", "policy").mkdir(parents=True)
    Path("training.toml").write_text(_PLAN)
    Path("questions.jsonl").write_text('{"question": "How do moths navigate?", "abstract": "They see the moon."}\n')
    result = command_line("policy", "check", "training.toml", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert Path(document.pop("model")).name == "policy"
    assert document == {"steps": 3, "checkpoint": None, "questions": 1, "rewards": 6}
