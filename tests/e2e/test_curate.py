"""Papers to questions, questions to candidates, candidates to scores, as a user runs it, and again for nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from simulator.process import Simulator
from tests.e2e.program import Ended, Homes, Program, run_simulator

_PAPERS = 8


class CuratedRun(NamedTuple):
    program: Program
    curated: Ended
    again: Ended
    again_answered: int
    proposed: Ended
    scored: Ended


def _write_papers(program: Program) -> Path:
    abstract = (
        "Seedlings of {n} species die in dry summers, and watering all of them is out of reach. We propose to shade "
        "every second plot with cloth of {n} grades. Experiments show that more seedlings live."
    )
    records: list[Any] = [
        {"id": f"p{n}", "title": f"Shade plan {n}", "abstract": abstract.format(n=n + 2)} for n in range(_PAPERS)
    ]
    path = program.home / "papers.jsonl"
    path.write_text("\n".join([*map(json.dumps, records), "no JSON"]), "utf-8")
    return path


@pytest.fixture(scope="module")
def curated_run(homes: Homes) -> Iterator[CuratedRun]:
    with run_simulator(latency_mean=0) as simulated:
        yield _curate_twice(homes.create_bare_home("curate").with_simulator(simulated), simulated)


def _curate_twice(program: Program, simulated: Simulator) -> CuratedRun:
    papers = _write_papers(program)
    every_kind = [word for kind in ("new_idea", "survey", "evaluation") for word in ("--kind", kind)]
    curated = program.run("curate", papers, *every_kind)
    answered_count = simulated.read_stats().answered
    again = program.run("curate", papers, *every_kind, "--out", "again.jsonl")
    again_answered = simulated.read_stats().answered - answered_count
    question = "How can seedlings be brought through a dry summer without water?"
    proposed = program.run("propose", question, "--candidates", 3, "--best", "comparisons", "--tier", "fast")
    scored = program.run("score", "candidates.jsonl", "--question", question)
    return CuratedRun(program, curated, again, again_answered, proposed, scored)


def _read_json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_valid_paper_gets_a_line_and_invalid_lines_are_reported(curated_run: CuratedRun) -> None:
    assert curated_run.curated.code == 1
    assert "papers.jsonl:9 is not valid JSON" in curated_run.curated.err
    lines = _read_json_lines(curated_run.program.home / "curated.jsonl")
    assert [line["id"] for line in lines] == [f"p{n}" for n in range(_PAPERS)]
    for line in lines:
        assert isinstance(line["question"], str) == (line["leakage"] is not None and not line["leakage"]["leaks"])
        assert isinstance(line["question"], str) or line["question"]["reason"]
    assert any(isinstance(line["question"], str) for line in lines)
    assert "cost unknown: No price is configured for simulated" in curated_run.curated.out


def test_repeated_run_uses_cache_and_writes_identical_file(curated_run: CuratedRun) -> None:
    assert curated_run.again_answered == 0
    assert (curated_run.program.home / "again.jsonl").read_bytes() == (
        curated_run.program.home / "curated.jsonl"
    ).read_bytes()
    assert "0 paid answers, " in curated_run.again.out
    assert "Answered by simulated; prompts curation.classification v1" in curated_run.again.out


def test_proposed_candidates_are_distinct_and_ranked(curated_run: CuratedRun) -> None:
    assert curated_run.proposed.code == 0, curated_run.proposed.err
    lines = _read_json_lines(curated_run.program.home / "candidates.jsonl")
    assert len({line["text"] for line in lines}) == 3
    assert [line["rank"] for line in lines] == [1, 2, 3]


def test_candidates_are_scored_on_every_dimension(curated_run: CuratedRun) -> None:
    assert curated_run.scored.code in (0, 1), curated_run.scored.err
    lines = _read_json_lines(curated_run.program.home / "scores.jsonl")
    assert len(lines) == 3
    for line in lines:
        assert [score["dimension"] for score in line["scores"]] == ["novelty", "feasibility", "effectiveness"]
        scores = [score["score"] for score in line["scores"]]
        assert all(score in (1, 2, 3, 4, 5) if isinstance(score, float) else score["reason"] for score in scores)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("curate", "papers.jsonl"), "needs a language model"),
        (("propose", "Why?"), "needs a language model"),
        (("score", "candidates.jsonl"), "needs a language model"),
        (("curate", "papers.jsonl", "--kind", "novel"), "Unknown kind of paper 'novel'"),
        (("propose", "Why?", "--temperature", "0"), "temperature"),
    ],
)
def test_invalid_commands_are_rejected_before_any_llm_request(
    curated_run: CuratedRun, arguments: tuple[str, ...], message: str
) -> None:
    refusal = Program(curated_run.program.home).run(*arguments)
    assert refusal.code == 2
    assert message in refusal.err
