"""Wording for the review of a plan without literature: checklist items, and the certainty of flaws."""

from assayer.models import Certainty, ChecklistItem, FlawAspect
from assayer.plan_review.checklist import GAP_ERRORS

ITEMS: dict[ChecklistItem, str] = {
    "sample_size": "how many cases",
    "comparator": "what it is compared with",
    "measure": "what is measured",
    "uncertainty": "how effects are distinguished from chance",
    "sharing": "whether data, code or results are shared",
    "ethics": "approval, consent or data protection",
    "resources": "money, people, computing or facilities",
    "timeline": "a schedule",
    "risks": "limitations, or what is done if it fails",
}

ASPECTS: dict[FlawAspect, str] = {
    "scope": "Scope",
    "controls": "Controls",
    "baselines": "Baselines",
    "statistics": "Statistics",
    "measurement": "Measurement",
    "feasibility": "Feasibility",
    "claim": "Doubtful claim",
}

CERTAINTIES: dict[Certainty, str] = {
    "certain": "certain: the plan’s words show it",
    "likely": "likely",
    "possible": "possible: the plan leaves it open",
}

NOT_STATED_MEANS = (
    "No wording for these items was detected in the plan. It may state them in other words, and not every plan needs "
    "them."
)
FLAWS_ARE = (
    "A language model’s own judgement of the plan’s text. It is not based on the literature, is not evidence, affects "
    "no score, and may be wrong. Quotes are checked against the plan."
)


def describe_gap_errors(item: ChecklistItem) -> str:
    """Return how often “not stated” was wrong for this item in a measurement (docs/evidence/plans.md)."""
    wrong_count, total = GAP_ERRORS[item]
    return f"wrong for {wrong_count} of {total} plans when measured"
