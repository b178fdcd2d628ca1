"""Requests for comparisons of two ideas."""

from assayer.models import Idea
from assayer_client.comparisons import ComparisonBody
from orchestrator.jobs.requests import ComparisonRequest
from orchestrator.problems import HttpProblem


def build_comparison_request(
    first: Idea, second: Idea, *, blind: bool, body: ComparisonBody | None = None
) -> ComparisonRequest:
    """Return the request for comparing two ideas. Raises HttpProblem if both have the same text."""
    options = body or ComparisonBody()
    if first.id == second.id:
        raise HttpProblem.invalid("It has the same text as `first`. Send two different ideas.", "/second")
    return ComparisonRequest(
        first=first,
        second=second,
        both_orders=options.both_orders,
        blind=blind,
        limits=options.limits,
    )
