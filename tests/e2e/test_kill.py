"""An evaluation that is killed and restarted gives the same reports, and no answer is paid for twice."""

from typing import Any

import pytest

from tests.e2e.evaluations import Evaluated, Kill, KilledRun
from tests.e2e.program import read_comparable_reports, read_reports

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def paid_rows(killed_run: KilledRun) -> list[Any]:
    """The ledger's rows of answers that were paid for."""
    return killed_run.program.fetch_rows("SELECT key, at FROM ledger WHERE outcome = 'answered' AND NOT cached")


def _count_unstored_answers(kill: Kill, paid: list[Any]) -> int:
    """Return the number of answers that were never stored: requests in flight at this kill or an earlier one."""
    stored = [row for row in paid if row["at"] <= kill.at]
    return kill.answered - len(stored)


def test_evaluation_restarted_after_crashes_completes(killed_run: KilledRun) -> None:
    assert (killed_run.ended.code, killed_run.ended.err) == (0, "")


def test_database_server_survives_program_crash_and_is_reused(killed_run: KilledRun) -> None:
    assert killed_run.left_behind is not None
    assert killed_run.used == killed_run.left_behind


def test_reports_after_crashes_match_uninterrupted_evaluation(
    killed_run: KilledRun, undisturbed_run: Evaluated
) -> None:
    assert read_comparable_reports(killed_run.program.out) == read_comparable_reports(undisturbed_run.program.out)
    assert len(read_comparable_reports(killed_run.program.out)) == 2


def test_every_answer_is_paid_for_once(killed_run: KilledRun, undisturbed_run: Evaluated, paid_rows: list[Any]) -> None:
    assert len(paid_rows) == len({row["key"] for row in paid_rows}) == undisturbed_run.stats.answered


def test_only_requests_in_flight_at_crash_are_repeated(
    killed_run: KilledRun, undisturbed_run: Evaluated, paid_rows: list[Any]
) -> None:
    lost = _count_unstored_answers(killed_run.with_database, paid_rows)
    assert killed_run.stats.repeated_prompts == killed_run.stats.answered - undisturbed_run.stats.answered == lost
    assert 0 <= _count_unstored_answers(killed_run.alone, paid_rows) <= lost <= 2 * killed_run.stats.peak_in_flight


def test_final_run_pays_only_for_missing_answers(killed_run: KilledRun, undisturbed_run: Evaluated) -> None:
    usage = [report["usage"] for report in read_reports(killed_run.program.out).values()]
    cached, new = (sum(item[name] for item in usage) for name in ("llm_requests_cached", "llm_requests_paid"))
    assert cached + new == undisturbed_run.stats.answered
    assert new == killed_run.stats.answered - killed_run.with_database.answered
