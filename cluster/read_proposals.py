"""Read proposals for an evaluation on this machine, for both the command line and Python."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assayer.models import Criterion, Idea, is_judged_blind
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.engine import check_request
from cluster.run_request import RunRequest
from cluster.settings import Settings
from workers.documents.idea_reader import are_submitted_together

if TYPE_CHECKING:
    from workers.documents.idea_reader import RejectedInput


class ReadProposals(NamedTuple):
    ideas: list[Idea]
    rejected: "list[RejectedInput]"
    run_request: RunRequest


async def read_proposals(
    paths: Sequence[Path],
    settings: Settings,
    method: str,
    cutoff: dt.date | None,
    blind: bool | None,
    criteria: tuple[Criterion, ...] = (),
) -> ReadProposals:
    """Read the proposals in the inputs, and return them with the request under which they are to be evaluated. Raises
    InputError if the method does not exist or the cutoff is in the future."""
    today = dt.datetime.now(dt.UTC).date()
    check_request(method, cutoff, today)
    ideas_read = await read_idea_inputs(paths, settings, today)
    blind = is_judged_blind(blind, settings.evaluation.blind, several=are_submitted_together(paths, ideas_read))
    return ReadProposals(*ideas_read, RunRequest(blind=blind, criteria=criteria))
