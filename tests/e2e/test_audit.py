"""`assayer audit` and blind mode, by the installed program, without a language model."""

import json
from pathlib import Path

from benchmarks.simulator.process import Simulator
from tests.e2e.program import IDEAS, Program, reports

IDEA = IDEAS / "quote-then-abstain.md"
SIGNED = "Anna Schmidt\nDepartment of Physics, University of Freiburg\nanna.schmidt@uni-freiburg.de"


def _signed(folder: Path, name: str) -> Path:
    """The example with an author block under its title."""
    title, _, rest = IDEA.read_text("utf-8").partition("\n")
    path = folder / name
    path.write_text(f"{title}\n\n{SIGNED}\n{rest}", encoding="utf-8")
    return path


def test_audit_finds_no_difference_of_institution_and_seniority_in_blind_mode(program: Program) -> None:
    chosen = ("--attribute", "institution", "--attribute", "seniority", "--attribute", "language")
    ended = program.run("audit", IDEA, *chosen, "--out", "audited")
    assert (ended.code, ended.err) == (0, "")
    folder = program.home / "audited"
    assert sorted(file.name for file in folder.iterdir()) == ["audit.html", "audit.json", "audit.md"]
    audit = json.loads((folder / "audit.json").read_text("utf-8"))
    assert (audit["blind"], audit["ideas"], audit["evaluations"], audit["failed"]) == (True, 1, 4, 0)
    assert audit["surviving"]["survived"] == 0 < audit["surviving"]["planted"]
    masked = [one for one in audit["differences"] if one["attribute"] != "language" and one["ideas"]]
    assert masked
    assert max(one["largest"] for one in masked) < 1e-9
    assert "Institutions and seniority changed no score of any idea" in (folder / "audit.html").read_text("utf-8")


def test_reference_is_evaluated_again_with_answers_of_its_own(program: Program) -> None:
    with Simulator(latency_mean=0) as simulated:
        command = ("audit", IDEA, "--attribute", "seniority", "--format", "json")
        ended = program.asking(simulated).run(*command, "--repeats", "1", "--out", "once")
        assert (ended.code, ended.err) == (0, "")
        once = simulated.reset().requests
        ended = program.asking(simulated).run(*command, "--out", "twice")
        assert (ended.code, ended.err) == (0, "")
        # All others are known from before.
        assert simulated.stats().requests == once
    first, second = (json.loads((program.home / out / "audit.json").read_text("utf-8")) for out in ("once", "twice"))
    assert (first["evaluations"], first["by_repeating"]) == (2, {"reason": "every text was evaluated once."})
    assert second["evaluations"] == 3
    assert second["by_repeating"]["compared"] > 0
    assert second["by_sender"] == first["by_sender"]
    assert [one["variant"] for one in second["audited"]][-1] == "reference, evaluation 2"


def test_several_ideas_are_judged_blind_and_a_single_one_as_it_came(program: Program) -> None:
    first, second = _signed(program.home, "first.md"), program.home / "second.md"
    second.write_text(IDEA.read_text("utf-8"), encoding="utf-8")
    ended = program.run("evaluate", first, second, "--out", "several")
    assert (ended.code, ended.err) == (0, "")
    found = reports(program.home / "several")
    masked = found["first"]["idea"]
    assert "Schmidt" not in masked["text"]
    assert {one["kind"] for one in masked["blinding"]["masked"]} == {"name", "affiliation", "email"}
    assert found["second"]["idea"]["blinding"]["masked"] == []
    for kind in ("html", "md"):
        text = (program.home / "several" / f"first.{kind}").read_text("utf-8")
        assert "1 name, 1 affiliation, 1 e-mail address" in text
        assert "Anna Schmidt" in text
    # Who wrote it changes nothing else.
    assert found["first"]["parts"] == found["second"]["parts"]

    ended = program.run("evaluate", first, "--out", "single", "--format", "json")
    assert (ended.code, ended.err) == (0, "")
    assert reports(program.home / "single")["first"]["idea"]["blinding"] is None


def test_idea_is_judged_blind_beside_one_that_cannot_be_read(program: Program) -> None:
    folder = program.home / "call"
    folder.mkdir()
    _signed(folder, "good.md")
    (folder / "broken.pdf").write_text("no PDF at all", encoding="utf-8")
    ended = program.run("evaluate", folder, "--out", "judged", "--format", "json")
    assert (ended.code, "broken.pdf" in ended.err) == (1, True)
    assert "Schmidt" not in reports(program.home / "judged")["good"]["idea"]["text"]
