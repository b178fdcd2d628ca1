"""Table of a call's reviews without the names of the reviewers."""

import re
from collections.abc import Iterable, Mapping, Sequence

from assayer_client.calls import CallTerms
from assayer_client.reviewing import Opinion, PanelRow
from orchestrator.jobs.models import JobId

_MASK = "[reviewer]"
_MIN_NAME_PART_CHARS = 3
"""Minimum number of letters of a part of a name that is masked on its own."""


def build_anonymous_reviews(
    rows: Sequence[PanelRow], titles: Mapping[JobId, str], terms: CallTerms, names: Iterable[str]
) -> tuple[list[str], list[list[object]]]:
    """Return the columns and one row for each review. Reviewers are numbered separately for each proposal, in the order
    of their scores, so that a number does not identify a person across proposals. `names`: names and addresses of the
    reviewers, which are masked in texts."""
    criteria, fields = [criterion.name for criterion in terms.criteria], [field.name for field in terms.form.fields]
    columns = ["Row", "Proposal", "Reviewer", "First score (1 to 5)", "Score (1 to 5)", "Counted", *criteria]
    columns += ["Certainty (1 to 5)", *fields, "Comments", "First comments", "Comments to the applicant"]
    names_pattern = _build_names_pattern(names)

    def mask_names(value: object) -> object:
        return names_pattern.sub(_MASK, value) if names_pattern and isinstance(value, str) else value

    def build_row(row: PanelRow, number: int, review: Opinion) -> list[object]:
        answers = review.answers
        row_cells = [
            row.row,
            titles.get(JobId(row.evaluation), ""),
            f"Reviewer {number}",
            review.blind_score,
            review.score,
        ]
        row_cells += ["no" if review.conflict else "yes", *map(answers.criteria.get, criteria), answers.confidence]
        return row_cells + [
            mask_names(text)
            for text in (*map(answers.fields.get, fields), review.note, review.blind_note, answers.to_applicant)
        ]

    return columns, [
        build_row(row, number, review)
        for row in rows
        for number, review in enumerate(sorted(row.opinions, key=_get_sort_key), 1)
    ]


def _get_sort_key(review: Opinion) -> tuple[int, int, str]:
    return -review.score, -review.blind_score, review.note


def _build_names_pattern(people: Iterable[str]) -> re.Pattern[str] | None:
    """Return the pattern of the names, in any case, and of their parts as they are written; None without names."""
    full_names = {name for name in people if name}
    parts = {
        part for name in full_names if "@" not in name for part in name.split() if len(part) >= _MIN_NAME_PART_CHARS
    }
    groups = [
        f"{flag}{'|'.join(map(re.escape, sorted(group, key=len, reverse=True)))})"
        for flag, group in (("(?i:", full_names), ("(?:", {part for part in parts if part[0].isupper()}))
        if group
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(groups)})(?!\w)") if groups else None
