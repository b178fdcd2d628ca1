"""Submissions with the mean of their reviewers' ratings, year by year."""

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from assayer.text.code_links import without_code_links
from benchmarks.quality.grapheval.data import read_records

__all__ = ["RatedSubmission", "rated_submissions"]


class RatedSubmission(NamedTuple):
    id: str
    year: int
    title: str
    abstract: str
    """Without sentences that tell where code lies: accepted papers got them afterwards."""
    rating: float
    """Mean of the reviewers', on the scale of its year."""

    @property
    def text(self) -> str:
        return f"{self.title}\n\n{self.abstract}"

    @property
    def known_until(self) -> dt.date:
        """The last day before its conference's year: its own publication lies later."""
        return dt.date(self.year - 1, 12, 31)

    @property
    def idea(self) -> Idea:
        """Raises InputError where nothing of the abstract is left."""
        return parse_idea(self.abstract, self.id, self.title, self.known_until)


def rated_submissions(folder: Path) -> Mapping[int, Sequence[RatedSubmission]]:
    """By year, the earliest first; those without ratings are left out."""
    found: dict[int, list[RatedSubmission]] = {}
    for one in read_records(folder / "iclr_years" / "submissions.jsonl.gz"):
        ratings = one["ratings"]
        if ratings:
            abstract = without_code_links(one["abstract"].strip())
            mean = sum(ratings) / len(ratings)
            found.setdefault(one["year"], []).append(
                RatedSubmission(one["id"], one["year"], one["title"].strip(), abstract, mean)
            )
    return dict(sorted(found.items()))
