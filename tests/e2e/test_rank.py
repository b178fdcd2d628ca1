"""Rankings as a user makes them: interrupted and taken up again, then with more ideas."""

import csv
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from assayer_client.comparisons import NamedComparison
from assayer_client.rankings import GroupAnalysis, Ranking
from simulator.process import Simulator
from tests.e2e.program import Ended, Homes, Program, run_simulator
from tests.polling import LONGEST_SECONDS, wait_until

_FEWER, _FIRST, _ALL = 4, 6, 8
_CALLS = 3


class RankedRuns(NamedTuple):
    program: Program
    interrupted: Ended
    answered: int
    """Comparisons that the judge had answered when it was interrupted."""
    resumed: Ended
    repeated: int
    """Questions that were paid twice."""
    again: Ended
    """The same into another folder."""
    again_answered: int
    more: Ended
    more_answered: int
    fewer: Ended
    """Four of them, with the comparisons of all."""


def _write_ideas(program: Program, count: int) -> Path:
    path = program.home / f"{count}.jsonl"
    text = (
        "We ask whether shade number {n} helps seedlings of {n} species through a dry summer. Plots are drawn by lot, "
        "survival is counted weekly for two years, and the analysis is written down before the first count."
    )
    records = [{"id": f"A-{n}", "title": f"Shade plan {n}", "text": text.format(n=n + 2)} for n in range(count)]
    if count > _FIRST:
        records[-1]["text"] += " Zxcvbn thinks that two years suffice."
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return path


def _write_labelled_ideas(program: Program) -> Path:
    path = program.home / "labelled.jsonl"
    texts = {"reject": "We look at {n} plants once, without a control.", "accept": "We draw {n} plots by lot, twice."}
    records = [
        {"title": f"Past plan {label} {n}", "text": text.format(n=n + 2), "label": label}
        for label, text in texts.items()
        for n in range(8)
    ]
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return path


@pytest.fixture(scope="module")
def ranked_runs(homes: Homes) -> Iterator[RankedRuns]:
    with run_simulator(latency_mean=0.2) as simulated:
        yield _rank_twice(homes.create_bare_home("rank").with_simulator(simulated), simulated)


def _rank_twice(program: Program, simulated: Simulator) -> RankedRuns:
    command = ("rank", _write_ideas(program, _FIRST), "--shortlist-size", 2, "--comparisons-per-idea", _CALLS)
    process = program.start(*command)
    wait_until(lambda: process.poll() is not None or simulated.read_stats().answered >= 3)
    process.send_signal(signal.SIGINT)
    with process:
        out, err = process.communicate(timeout=LONGEST_SECONDS)
    interrupted, answered_count = Ended(process.wait(), out, err), simulated.read_stats().answered
    resumed = program.run(*command)
    total, repeated = simulated.read_stats().answered, simulated.read_stats().repeated_prompts
    again = program.run(*command, "--out", "again")
    again_answered = simulated.read_stats().answered - total
    more = program.run(
        *(
            "rank",
            _write_ideas(program, _ALL),
            "--shortlist-size",
            2,
            "--comparisons-per-idea",
            _CALLS,
            "--out",
            "more",
        ),
        *("--known", program.out / "comparisons.jsonl"),
        *("--labelled", _write_labelled_ideas(program), "--classes", "reject,accept"),
    )
    more_answered = simulated.read_stats().answered - total - again_answered
    known = ("--known", program.home / "more" / "comparisons.jsonl")
    fewer = program.run(
        *("rank", _write_ideas(program, _FEWER), "--comparisons-per-idea", _CALLS, "--out", "fewer"), *known
    )
    return RankedRuns(
        program, interrupted, answered_count, resumed, repeated, again, again_answered, more, more_answered, fewer
    )


def test_interrupted_ranking_resumes_from_saved_answers(ranked_runs: RankedRuns) -> None:
    assert ranked_runs.interrupted.code == 130
    assert "Answers so far are saved" in ranked_runs.interrupted.err
    assert ranked_runs.answered < _FIRST * _CALLS
    assert ranked_runs.resumed.code == 0, ranked_runs.resumed.err
    # Answers that came in while the program was leaving may be lost; whatever it had taken in is not asked again.
    assert ranked_runs.repeated < ranked_runs.answered


def test_ranking_outputs_in_all_formats_are_consistent(ranked_runs: RankedRuns) -> None:
    out_folder = ranked_runs.program.out
    ranking = Ranking.model_validate_json((out_folder / "ranking.json").read_text("utf-8"))
    assert ranking.judge.comparisons == _FIRST * _CALLS
    assert len((out_folder / "comparisons.jsonl").read_text("utf-8").splitlines()) == _FIRST * _CALLS
    with (out_folder / "ranking.csv").open(encoding="utf-8") as lines:
        assert [row["id"] for row in csv.DictReader(lines)] == [idea.id for idea in ranking.ideas]
    for name in ("ranking.html", "ranking.md"):
        text = (out_folder / name).read_text("utf-8")
        assert all(idea.title in text for idea in ranking.ideas)
    assert "Clearly in" in ranked_runs.resumed.out
    assert ranking.blind
    assert "Judged blind: nothing found to mask.\n" in ranked_runs.resumed.out
    assert "Judged blind: nothing found to mask; names may remain.\n" in ranked_runs.more.out


def test_blind_comparisons_are_rejected_in_non_blind_ranking(ranked_runs: RankedRuns) -> None:
    known = ranked_runs.program.out / "comparisons.jsonl"
    refusal = ranked_runs.program.run("rank", "6.jsonl", "--no-blind", "--known", known)
    assert refusal.code == 2
    assert f"{_FIRST * _CALLS} judged blind cannot be used, because this ranking is not blind" in refusal.err
    assert "--blind" in refusal.err


def test_repeated_ranking_uses_cache_and_writes_identical_files(ranked_runs: RankedRuns) -> None:
    assert (ranked_runs.again.code, ranked_runs.again_answered) == (0, 0)
    out_folder, again = ranked_runs.program.out, ranked_runs.program.home / "again"
    for name in ("ranking.csv", "comparisons.jsonl"):
        assert (again / name).read_bytes() == (out_folder / name).read_bytes()
    first_ranking, second_ranking = (
        Ranking.model_validate_json((folder / "ranking.json").read_text("utf-8")) for folder in (out_folder, again)
    )
    assert (
        second_ranking.model_copy(update={"usage": first_ranking.usage}).model_dump_json()
        == first_ranking.model_dump_json()
    )


def test_enlarged_ranking_reuses_comparisons_and_labels_give_baselines(ranked_runs: RankedRuns) -> None:
    assert ranked_runs.more.code == 0, ranked_runs.more.err
    ranking = Ranking.model_validate_json((ranked_runs.program.home / "more" / "ranking.json").read_text("utf-8"))
    assert ranking.judge.submitted_comparisons == _FIRST * _CALLS
    assert ranking.judge.comparisons - ranking.judge.submitted_comparisons == (_ALL - _FIRST) * _CALLS
    assert ranked_runs.more_answered == (_ALL - _FIRST) * _CALLS + 1, "the last one tells of the group"
    assert isinstance(ranking.analysis, GroupAnalysis)
    assert isinstance(ranking.baselines, tuple)
    assert [baseline.labelled for baseline in ranking.baselines] == [16, 16]
    assert f"{_FIRST * _CALLS} of {_FIRST * _CALLS} known comparisons are about these ideas." in ranked_runs.more.out


def test_comparisons_keep_reference_names_of_unranked_ideas(ranked_runs: RankedRuns) -> None:
    assert ranked_runs.fewer.code == 0, ranked_runs.fewer.err
    lines = (ranked_runs.program.home / "fewer" / "comparisons.jsonl").read_text("utf-8").splitlines()
    named_comparisons = [NamedComparison.model_validate_json(line) for line in lines]
    names = {item.first: item.first_reference for item in named_comparisons} | {
        item.second: item.second_reference for item in named_comparisons
    }
    assert sorted(names.values()) == [f"A-{n}" for n in range(_ALL)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("6.jsonl",), "ASSAYER_LLM__MODEL"),
        (("6.jsonl", "--by", "charm"), "Unknown dimension 'charm'"),
    ],
)
def test_ranking_without_model_or_with_unknown_dimension_is_rejected(
    ranked_runs: RankedRuns, arguments: tuple[str, ...], message: str
) -> None:
    result = Program(ranked_runs.program.home).run("rank", *arguments)
    assert result.code == 2
    assert message in result.err


def test_duplicate_ideas_are_rejected_with_their_locations(ranked_runs: RankedRuns) -> None:
    twice = ranked_runs.program.run("rank", "6.jsonl", "6.jsonl")
    assert twice.code == 2
    assert "more than once: 6.jsonl:1 (A-0), 6.jsonl:2 (A-1)" in twice.err


def test_too_few_ideas_are_rejected_with_reasons_for_unusable_lines(ranked_runs: RankedRuns) -> None:
    (ranked_runs.program.home / "few.jsonl").write_text('{"title": "Only a title"}\n[]\n', "utf-8")
    result = ranked_runs.program.run("rank", "few.jsonl")
    assert result.code == 2
    assert "few.jsonl:1 does not contain the text of an idea" in result.err
    assert "A ranking needs at least two ideas, but has 0." in result.err
