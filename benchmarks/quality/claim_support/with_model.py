"""Asks the language model, with the task and the answer checks that reports use."""

from collections.abc import Mapping, Sequence

from assayer.claim_support.checking import CLAIMS_PER_CALL, convert_verdict
from assayer.claim_support.task import SUPPORT, SupportItem, SupportQuestion
from assayer.llm import Llm, ask
from assayer.models import ClaimSupport, EvaluationId, SupportOutcome
from assayer.run.budget import Budget
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.quality.claim_support.items import KnownClaim
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, measure_missing, sum_spending
from cluster.clock import SystemClock


class SupportOutcomes(Outcome):
    """Outcomes of the claims in one call; claims without an outcome are absent."""

    outcomes: Mapping[str, SupportOutcome] = {}


def split_into_calls(name: str, claims: Sequence[KnownClaim]) -> dict[str, Sequence[KnownClaim]]:
    """Split the claims of a set into calls of the same size as a report's."""
    return {
        f"{name}-{start:05}": claims[start : start + CLAIMS_PER_CALL]
        for start in range(0, len(claims), CLAIMS_PER_CALL)
    }


async def ask_support(
    llm: Llm, calls: Mapping[str, Sequence[KnownClaim]], budget: Budget, outcome_file: OutcomeFile[SupportOutcomes]
) -> None:
    async def ask_call(claims: Sequence[KnownClaim], seed: int) -> SupportOutcomes:
        name = names[claims[0].id]
        run = Run(EvaluationId(f"support_{name}"), None, SystemClock(), NoProgress(), budget)
        items = tuple(
            SupportItem(label=f"C{number}", claim=claim.claim, passage=claim.passage, title=claim.title or "(unknown)")
            for number, claim in enumerate(claims, start=1)
        )
        answer = await ask(llm, SUPPORT, SupportQuestion(items=items), run)
        verdicts = {verdict.label: verdict for verdict in answer.verdicts}
        outcome_by_claim = {
            claim.id: convert_verdict(verdicts[item.label], item.passages).support
            for claim, item in zip(claims, items, strict=True)
        }
        return SupportOutcomes(
            item=name,
            seed=seed,
            outcomes={
                claim: outcome.outcome
                for claim, outcome in outcome_by_claim.items()
                if isinstance(outcome, ClaimSupport)
            },
            spent=sum_spending(run.journal.calls),
        )

    names = {claims[0].id: name for name, claims in calls.items()}

    def build_failure(name: str, seed: int, reason: str) -> SupportOutcomes:
        return SupportOutcomes(item=name, seed=seed, failure=reason)

    await measure_missing(((claims, name, 0) for name, claims in calls.items()), outcome_file, ask_call, build_failure)
