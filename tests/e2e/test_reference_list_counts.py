"""A reference list under the text counts towards nothing but the check of the references."""

import json
from typing import Any

import pytest

from tests.e2e.program import CORPUS, Homes, read_reports, run_simulator

TEXT = """Lanterns for the harbour of Tromvik

We want to hang lanterns along the harbour every second winter evening and ask skippers how well they saw the quay.
Lanterns are cheap, the port office likes them, and no harbour of the county has hung any so far. Skippers will note
what they saw, and keep their notes in a box until spring, when the council comes and reads them.

We expect that skippers who had lanterns make fewer turns before they moor than skippers who had none.
"""
_OF_THE_LIST = ("evaluation_id", "usage", "own_references", "provenance")


def _list_references() -> str:
    rows = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()[:14]]
    entries = (
        f"[{number}] {' and '.join(row['authors'][:2])}. {row['title']}. Lists, {row['publication_date'][:4]}."
        for number, row in enumerate(rows, start=1)
    )
    return "\nReferences\n" + "\n".join(entries) + "\n"


def _omit_reference_list(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report without what states that there is a list."""
    rest = {key: value for key, value in report.items() if key not in _OF_THE_LIST}
    rest["idea"] = {key: rest["idea"][key] for key in ("id", "title", "text", "flags")}
    rest["notices"] = [notice for notice in rest["notices"] if notice["kind"] != "own_references"]
    sources = [item for item in rest["coverage"]["sources"] if item["operation"] != "own_references"]
    rest["coverage"] = {**rest["coverage"], "sources": sources}
    return rest


@pytest.mark.slow
@pytest.mark.parametrize("method", ["review", "scholareval", "innoeval", "scicompanion"])
def test_reference_list_does_not_change_evaluation(homes: Homes, method: str) -> None:
    program = homes.create_home(f"listed-{method}")
    for name, text in (("with", TEXT + _list_references()), ("without", TEXT)):
        (program.home / f"{name}.txt").write_text(text, "utf-8")
    with run_simulator(seed=3) as simulated:
        result = program.with_simulator(simulated).run(
            "evaluate", "with.txt", "without.txt", "--method", method, "--no-blind"
        )
    assert result.code == 0, result.err
    reports = read_reports(program.out)
    assert len(reports["with"]["own_references"]["entries"]) == 14
    assert reports["without"]["own_references"] is None
    assert _omit_reference_list(reports["with"]) == _omit_reference_list(reports["without"])
