"""A smaller review, for language models that are slow or have a small context window."""

from collections.abc import Mapping
from dataclasses import dataclass

from assayer.methods.review.options import ReviewOptions
from assayer.models import Notice
from assayer.reports.wording import format_count


@dataclass(frozen=True)
class ReviewSize:
    """Options that differ from the defaults, with the tokens that a local model read and wrote per idea with them
    (docs/evidence/models.md)."""

    options: Mapping[str, int | bool]
    prompt_tokens: int
    completion_tokens: int


SMALL = ReviewSize(
    {
        "points": 4,
        "walkthrough_points": 0,
        "prior_work": 0,
        "queries": 6,
        "hits": 5,
        "snippets": 2,
        "looked_at": 4,
        "opened": 4,
        "evidence_chars": 700,
        "reading_batch": 4,
        "notes": 5,
        "words": 500,
        "brief": True,
    },
    prompt_tokens=8_000,
    completion_tokens=2_500,
)


def list_size_notices(options: ReviewOptions) -> tuple[Notice, ...]:
    """Return a notice if the review is smaller than usual, otherwise an empty tuple."""
    if not options.brief:
        return ()
    usual = ReviewOptions()
    text = (
        "A smaller review than usual, for a small or slow language model: "
        f"at most {format_count(options.points, 'point')} instead of {usual.points + usual.walkthrough_points}, "
        f"{options.opened} papers read instead of {usual.opened}, and at most {options.words} words instead of "
        f"{usual.words:,}."
    )
    return (Notice(kind="small_review", text=text),)
