"""What a report says of the plan by itself: the checklist's items, and how sure a doubt is."""

from assayer.models import Absent, Certainty, ChecklistItem, ChecklistRow, FlawAspect, PlanReview
from assayer.reports.wording import count

__all__ = ["ASPECTS", "CERTAINTIES", "FLAWS_ARE", "ITEMS", "NOT_STATED_MEANS", "checked", "not_stated"]

ITEMS: dict[ChecklistItem, str] = {
    "sample_size": "how many cases",
    "comparator": "what it is compared with",
    "measure": "what is measured",
    "uncertainty": "how chance is told from effect",
    "sharing": "whether data, code or results are shared",
    "ethics": "approval, consent or data protection",
    "resources": "money, people, computing or facilities",
    "timeline": "a schedule",
    "risks": "what is done if it fails, or its limits",
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
    "Looked for by wordings, without a language model. “Not stated” says that no wording for it was recognised: the "
    "plan may mean it all the same, and of what is stated nothing is judged. None of this changes a score."
)
FLAWS_ARE = (
    "A language model’s own judgement of the plan’s text. It rests on no literature, counts as no evidence and changes "
    "no score; it may be wrong. Quotes are checked against the plan."
)


def not_stated(review: PlanReview) -> list[str]:
    """Items in words; none where nothing was checked."""
    rows: tuple[ChecklistRow, ...] = () if isinstance(review.checklist, Absent) else review.checklist
    return [ITEMS[row.item] for row in rows if row.outcome == "not_stated"]


def checked(review: PlanReview) -> str:
    """`5 stated, 3 not stated, 1 does not apply`."""
    counts = review.counts
    stands_aside = count(counts.not_applicable, "does not apply", "do not apply")
    return f"{counts.stated} stated, {counts.not_stated} not stated, {stands_aside}"
