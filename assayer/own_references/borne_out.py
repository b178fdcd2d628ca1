"""Use a language model to check whether abstracts of an idea's references support the passages that cite them.

The full paper may support a passage that its abstract does not. Passages are taken from the judged text, which is
masked in blind mode."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.claim_support.checking import check_support
from assayer.claim_support.schemas import SupportItem
from assayer.llm import Llm
from assayer.models import Absent, ClaimSupport, Paper
from assayer.own_references.matching import RecordMatch
from assayer.run.run import Run

_PER_CALL = 5
_MAX_ABSTRACT_CHARS = 3_000


class CitingPassage(NamedTuple):
    number: int
    """Number of the reference."""
    claim: str
    """Passage with the citation mark of this reference replaced by `[this source]`."""
    paper: Paper


def explain_not_asked(passage: str, match: RecordMatch | None, llm: Llm) -> Absent | None:
    """Return why a passage cannot be checked against an abstract; None if it can."""
    if not llm.models:
        return Absent(reason="not checked: this needs a language model.")
    if match is None:
        return Absent(reason="not checked: no record was found.")
    if match.other_title:
        return Absent(reason="not checked: the record found has a different title.")
    if not passage:
        return Absent(reason="not checked: no passage that cites it was detected.")
    return None if match.paper.abstract.strip() else Absent(reason="not checked: its record has no abstract.")


async def passages_borne_out(
    passages: Sequence[CitingPassage], llm: Llm, run: Run
) -> Mapping[int, ClaimSupport | Absent]:
    """Return the support for each passage, keyed by the number of its reference. Raises only errors that would affect
    every passage."""
    items = [
        SupportItem(
            label="",
            claim=passage.claim,
            passage=passage.paper.abstract[:_MAX_ABSTRACT_CHARS],
            title=passage.paper.title,
        )
        for passage in passages
    ]
    found = await check_support(items, llm, run, "check of a passage against an abstract", _PER_CALL)
    return {passage.number: outcome.support for passage, outcome in zip(passages, found, strict=True)}
