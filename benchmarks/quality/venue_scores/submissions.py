"""Submissions with their reviewers' ratings, year by year: ICLR 2017 whole, samples of 400 of later years."""

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from assayer.text.code_links import without_code_links
from benchmarks.quality.grapheval.data import read_records

__all__ = ["RatedSubmission", "rated_submissions"]

_WHOLE = 2017
"""The year of which every submission is there."""


class RatedSubmission(NamedTuple):
    id: str
    year: int
    title: str
    abstract: str
    """Without sentences that tell where code lies: accepted papers got them afterwards."""
    ratings: tuple[float, ...]
    """One a reviewer, on the scale of its year."""

    @property
    def rating(self) -> float:
        """Mean of the reviewers'."""
        return sum(self.ratings) / len(self.ratings)

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.abstract}"

    @property
    def known_until(self) -> dt.date:
        """The last day before its conference's year: its own publication lies later."""
        return dt.date(self.year - 1, 12, 31)

    @property
    def idea(self) -> Idea:
        """Raises InputError where nothing of the abstract is left."""
        return parse_idea(self.abstract, self.id, self.title, self.known_until)


def rated_submissions(folder: Path) -> Mapping[int, Sequence[RatedSubmission]]:
    """By year, the earliest first; those without ratings are left out. Raises OSError where the data are not there."""
    whole = list(read_records(folder / "iclr2017" / "submissions.jsonl.gz"))
    sampled = (one for one in read_records(folder / "iclr_years" / "submissions.jsonl.gz") if one["year"] != _WHOLE)
    found: dict[int, list[RatedSubmission]] = {}
    for one in (*whole, *sampled):
        ratings = tuple(float(rating) for rating in one["ratings"] or ())
        if ratings:
            abstract = without_code_links(one["abstract"].strip())
            found.setdefault(one["year"], []).append(
                RatedSubmission(one["id"], one["year"], one["title"].strip(), abstract, ratings)
            )
    return dict(sorted(found.items()))
