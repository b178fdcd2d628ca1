"""InnoEval's labelled papers as ideas, with cutoffs."""

import datetime as dt
from pathlib import Path

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea, IdeaId
from benchmarks.quality.grapheval.data import LabelledPaper
from benchmarks.records import DATA, read_records

EARLIEST = dt.date(2024, 9, 1)
"""Date before the deadlines of both conferences. Undated papers are judged only by literature published before it."""


def build_idea(paper: LabelledPaper, cutoff: dt.date | None = None) -> Idea:
    """Return a paper as an idea. Raises InputError if it has no abstract."""
    title, _, abstract = paper.text.partition("\n\n")
    return parse_idea(abstract, paper.id, title, cutoff)


def read_cutoffs(folder: Path = DATA / "innoeval") -> dict[IdeaId, dt.date]:
    """Return the submission days of papers, where the groups contain them."""
    return {
        IdeaId(str(paper.get("paper_id", paper.get("id")))): dt.date.fromisoformat(paper["creation_date"])
        for group in read_records(folder / "groups.jsonl.gz")
        for paper in [group["query"], *(item["paper"] for item in group["matches"].values())]
        if paper.get("creation_date")
    }
