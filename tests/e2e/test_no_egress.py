"""No process that evaluates tries to reach another host when every remote source is off."""

from pathlib import Path

import pytest

from tests.e2e.program import IDEAS, Ended, Homes, Program, read_reports, run_simulator

IDEA = IDEAS / "quote-then-abstain.md"


def watch_connections(program: Program) -> Program:
    folder = Path(__file__).parent / "no_egress"
    notes = {"PYTHONPATH": str(folder), "EGRESS_NOTES": str(program.home / "egress.txt")}
    return Program(program.home, {**program.settings, **notes})


def read_notes(program: Program) -> list[str]:
    file = program.home / "egress.txt"
    return file.read_text("utf-8").splitlines() if file.exists() else []


def assert_nothing_left(program: Program, result: Ended) -> None:
    assert (result.code, result.err) == (0, "")
    assert [note for note in read_notes(program) if note.startswith("beyond")] == []
    (report,) = read_reports(program.out).values()
    assert {use["source"] for use in report["coverage"]["sources"]} == {"corpus"}


@pytest.mark.slow
def test_evaluation_without_a_model_reaches_no_other_host(homes: Homes) -> None:
    program = watch_connections(homes.create_home("closed"))
    assert_nothing_left(program, program.run("evaluate", IDEA, "--format", "json"))


@pytest.mark.parametrize("method", [pytest.param("scholareval", marks=pytest.mark.slow), "innoeval"])
def test_evaluation_with_local_model_contacts_only_that_model(homes: Homes, method: str) -> None:
    program = watch_connections(homes.create_home(f"closed-{method}"))
    with run_simulator(latency_mean=0.01) as simulated:
        simulated_program = program.with_simulator(simulated)
        assert_nothing_left(program, simulated_program.run("evaluate", IDEA, "--method", method, "--format", "json"))
    assert any(note.startswith("here socket.connect") for note in read_notes(program))


@pytest.mark.slow
def test_enabled_external_source_is_detected_and_blocked_by_egress_watch(homes: Homes) -> None:
    program = watch_connections(homes.create_home("open")).with_settings(
        S2__BASE_URL="http://192.0.2.1", S2__ATTEMPTS=1, S2__SPACING_SECONDS=0, LITERATURE__NEAR_ENOUGH=99
    )
    result = program.run("evaluate", IDEA, "--format", "json")
    assert result.code == 0
    assert any(note.startswith("beyond") and note.endswith("192.0.2.1") for note in read_notes(program))
    (report,) = read_reports(program.out).values()
    assert "semantic_scholar" in {trouble["source"] for trouble in report["coverage"]["source_failures"]}
