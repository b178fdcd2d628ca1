"""What jobs cost, from the ledger of calls."""

from collections.abc import Sequence
from dataclasses import dataclass

from assayer.models import Absent, EvaluationId
from orchestrator.store import PgLedger
from orchestrator.work.ports import Spent

__all__ = ["LedgerAccounts"]


@dataclass(frozen=True)
class LedgerAccounts:
    """Implements the Accounts port."""

    ledger: PgLedger

    async def spent(self, runs: Sequence[EvaluationId]) -> Spent:
        totals = [total for run in runs for total in await self.ledger.totals("run", run)]
        costs = [total.cost_usd for total in totals]
        known = [cost for cost in costs if not isinstance(cost, Absent)]
        return Spent(sum(known) if len(known) == len(costs) else None, sum(total.prompt_tokens for total in totals))
