"""An evaluation that is killed and restarted gives the same reports, and no answer is paid for twice."""

from typing import Any

import pytest

from tests.e2e.evaluations import Evaluated, Kill, Killed
from tests.e2e.program import read_comparable_reports, read_reports

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def paid_rows(killed: Killed) -> list[Any]:
    """The ledger's rows of answers that were paid for."""
    return killed.program.fetch_rows("SELECT key, at FROM ledger WHERE outcome = 'answered' AND NOT cached")


def _count_unstored_answers(kill: Kill, paid: list[Any]) -> int:
    """Return the number of answers that were never stored: requests in flight at this kill or an earlier one."""
    stored = [row for row in paid if row["at"] <= kill.at]
    return kill.answered - len(stored)


def test_evaluation_restarted_after_crashes_completes(killed: Killed) -> None:
    assert (killed.ended.code, killed.ended.err) == (0, "")


def test_database_server_survives_program_crash_and_is_reused(killed: Killed) -> None:
    assert killed.left_behind is not None
    assert killed.used == killed.left_behind


def test_reports_after_crashes_match_uninterrupted_evaluation(killed: Killed, undisturbed: Evaluated) -> None:
    assert read_comparable_reports(killed.program.out) == read_comparable_reports(undisturbed.program.out)
    assert len(read_comparable_reports(killed.program.out)) == 2


def test_every_answer_is_paid_for_once(killed: Killed, undisturbed: Evaluated, paid_rows: list[Any]) -> None:
    assert len(paid_rows) == len({row["key"] for row in paid_rows}) == undisturbed.stats.answered


def test_only_requests_in_flight_at_crash_are_repeated(
    killed: Killed, undisturbed: Evaluated, paid_rows: list[Any]
) -> None:
    lost = _count_unstored_answers(killed.with_database, paid_rows)
    assert killed.stats.repeated_prompts == killed.stats.answered - undisturbed.stats.answered == lost
    assert 0 <= _count_unstored_answers(killed.alone, paid_rows) <= lost <= 2 * killed.stats.peak_in_flight


def test_final_run_pays_only_for_missing_answers(killed: Killed, undisturbed: Evaluated) -> None:
    usage = [report["usage"] for report in read_reports(killed.program.out).values()]
    cached, new = (sum(item[name] for item in usage) for name in ("llm_requests_cached", "llm_requests_paid"))
    assert cached + new == undisturbed.stats.answered
    assert new == killed.stats.answered - killed.with_database.answered
