"""`assayer bias-test` and blind mode, by the installed program."""

import json
from pathlib import Path

import pytest

from tests.e2e.program import IDEAS, Homes, Program, read_reports, run_simulator

IDEA = IDEAS / "quote-then-abstain.md"
SIGNED = "Anna Schmidt\nDepartment of Physics, University of Freiburg\nanna.schmidt@uni-freiburg.de"


def _write_signed_example(folder: Path, name: str) -> Path:
    """The example with an author block under its title."""
    title, _, rest = IDEA.read_text("utf-8").partition("\n")
    path = folder / name
    path.write_text(f"{title}\n\n{SIGNED}\n{rest}", encoding="utf-8")
    return path


def test_bias_test_without_a_model_is_refused_because_there_is_no_score(program: Program) -> None:
    result = program.run("bias-test", IDEA, "--out", "refused")
    assert result.code != 0
    assert "this method gives none without a language model" in result.err


def test_blind_bias_test_finds_no_institution_or_seniority_difference(program: Program) -> None:
    chosen = ("--attribute", "institution", "--attribute", "seniority", "--attribute", "language")
    with run_simulator(latency_mean=0) as simulated:
        result = program.with_simulator(simulated).run("bias-test", IDEA, *chosen, "--out", "tested", "--repeats", "1")
    assert (result.code, result.err) == (0, "")
    folder = program.home / "tested"
    assert sorted(file.name for file in folder.iterdir()) == ["bias-test.html", "bias-test.json", "bias-test.md"]
    bias_test = json.loads((folder / "bias-test.json").read_text("utf-8"))
    assert (bias_test["blind"], bias_test["ideas"], bias_test["evaluations"], bias_test["failed"]) == (True, 1, 4, 0)
    assert bias_test["inserted_words"]["unmasked"] == 0 < bias_test["inserted_words"]["inserted"]
    masked = [item for item in bias_test["differences"] if item["attribute"] != "language" and item["ideas"]]
    assert masked
    assert max(item["largest"] for item in masked) < 1e-9
    assert "Institutions and seniority changed no score of any idea" in (folder / "bias-test.html").read_text("utf-8")


@pytest.mark.slow
def test_repeat_evaluation_of_reference_gets_new_llm_answers(homes: Homes) -> None:
    program = homes.create_home("bias_again")  # the module's own knows the answers of the test above
    with run_simulator(latency_mean=0) as simulated:
        command = ("bias-test", IDEA, "--attribute", "seniority", "--format", "json")
        result = program.with_simulator(simulated).run(*command, "--repeats", "1", "--out", "once")
        assert (result.code, result.err) == (0, "")
        once = simulated.reset().requests
        result = program.with_simulator(simulated).run(*command, "--out", "twice")
        assert (result.code, result.err) == (0, "")
        # All others are known from before.
        assert simulated.read_stats().requests == once
    first, second = (
        json.loads((program.home / folder / "bias-test.json").read_text("utf-8")) for folder in ("once", "twice")
    )
    assert (first["evaluations"], first["repetition_changes"]) == (2, {"reason": "every text was evaluated once."})
    assert second["evaluations"] == 3
    assert second["repetition_changes"]["compared_pairs"] > 0
    assert second["sender_changes"] == first["sender_changes"]
    assert [item["variant"] for item in second["results"]][-1] == "reference, evaluation 2"


@pytest.mark.slow
def test_several_proposals_are_evaluated_blind_and_a_single_proposal_is_not(program: Program) -> None:
    first, second = _write_signed_example(program.home, "first.md"), program.home / "second.md"
    second.write_text(IDEA.read_text("utf-8"), encoding="utf-8")
    result = program.run("evaluate", first, second, "--out", "several")
    assert (result.code, result.err) == (0, "")
    reports = read_reports(program.home / "several")
    masked = reports["first"]["idea"]
    assert "Schmidt" not in masked["text"]
    assert {item["kind"] for item in masked["blinding"]["masked"]} == {"name", "affiliation", "email"}
    assert reports["second"]["idea"]["blinding"]["masked"] == []
    for kind in ("html", "md"):
        text = (program.home / "several" / f"first.{kind}").read_text("utf-8")
        assert "1 name, 1 affiliation, 1 e-mail address" in text
        assert "Anna Schmidt" in text
    # Who wrote it changes nothing else.
    assert reports["first"]["parts"] == reports["second"]["parts"]

    result = program.run("evaluate", first, "--out", "single", "--format", "json")
    assert (result.code, result.err) == (0, "")
    assert read_reports(program.home / "single")["first"]["idea"]["blinding"] is None


@pytest.mark.slow
def test_readable_proposal_is_evaluated_blind_beside_unreadable_file(program: Program) -> None:
    folder = program.home / "call"
    folder.mkdir()
    _write_signed_example(folder, "good.md")
    (folder / "broken.pdf").write_text("no PDF at all", encoding="utf-8")
    result = program.run("evaluate", folder, "--out", "judged", "--format", "json")
    assert (result.code, "broken.pdf" in result.err) == (1, True)
    assert "Schmidt" not in read_reports(program.home / "judged")["good"]["idea"]["text"]
