"""File names of fetched reports, based on the submitter's name for each proposal: `A-2026-0007.html`."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from assayer.models.sender_references import reference_of_row
from cluster.cli.output import make_safe_name

_ENDING = re.compile(r"(?i)(?<=.)\.(txt|md|json|jsonl|pdf|docx|odt)$")
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")
"""Pattern of file names that Windows treats as devices, with any suffix."""
_MAX_CHARS = 120
"""Maximum length of a name in characters, before the row number and the suffix."""


class NamedProposal(NamedTuple):
    id: str
    row: int | None
    source: str
    """The proposal's name in the service: a file name, or a table row with the submitter's own id."""


def report_names(proposals: Iterable[NamedProposal], used_names: Iterable[str] = ()) -> dict[str, str]:
    """Return each report's file name, without suffix, by proposal id. `proposals` must be all proposals in a batch,
    finished or not, so that a proposal has the same name whenever it is fetched. Proposals with the same name, ignoring
    case, each get their row number."""
    plain = {proposal.id: (_make_base_name(proposal.source), proposal) for proposal in proposals}
    shared = Counter(name.casefold() for name, _ in plain.values())
    shared.update(name.casefold() for name in used_names)
    return {
        id: _add_row_and_id(name, proposal) if not name or shared[name.casefold()] > 1 else name
        for id, (name, proposal) in plain.items()
    }


def _make_base_name(source: str) -> str:
    row_reference = reference_of_row(source)
    name = make_safe_name(_ENDING.sub("", source) if row_reference is None else row_reference)[:_MAX_CHARS].rstrip("._")
    return f"_{name}" if name.startswith("-") or _DEVICE.fullmatch(name) else name


def _add_row_and_id(name: str, named_proposal: NamedProposal) -> str:
    """Return the name with the row number and the id. The id is unique, so the result differs from every other
    proposal's name."""
    return "-".join(part for part in (name, f"row-{named_proposal.row or 0:05}", named_proposal.id) if part)
