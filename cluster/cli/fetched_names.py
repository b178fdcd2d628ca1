"""Names of fetched reports: by what the sender calls each proposal, `A-2026-0007.html`."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from assayer.models.sender_references import reference_of_row
from cluster.cli.output import safe_name

__all__ = ["NamedProposal", "report_names"]

_ENDING = re.compile(r"(?i)(?<=.)\.(txt|md|json|jsonl|pdf|docx|odt)$")
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")
"""What Windows takes for a device, whatever the ending."""
_LONGEST = 120
"""Characters. A row's number and an ending follow."""


class NamedProposal(NamedTuple):
    id: str
    row: int | None
    source: str
    """As the service calls it: a file's name, a row of a table with the sender's own id."""


def report_names(proposals: Iterable[NamedProposal], taken: Iterable[str] = ()) -> dict[str, str]:
    """By id, without endings. Of all proposals of a batch, whether they have ended or not: so the same proposal has the
    same name whenever it is fetched. Those that share a name, also by case alone, all carry their row's number."""
    plain = {one.id: (_plain(one.source), one) for one in proposals}
    shared = Counter(name.casefold() for name, _ in plain.values())
    shared.update(name.casefold() for name in taken)
    return {
        id: _numbered(name, one) if not name or shared[name.casefold()] > 1 else name
        for id, (name, one) in plain.items()
    }


def _plain(source: str) -> str:
    named = reference_of_row(source)
    name = safe_name(_ENDING.sub("", source) if named is None else named)[:_LONGEST].rstrip("._")
    return f"_{name}" if name.startswith("-") or _DEVICE.fullmatch(name) else name


def _numbered(name: str, one: NamedProposal) -> str:
    """With its id besides, which no other has: a name that reads as another's number is then none."""
    return "-".join(part for part in (name, f"row-{one.row or 0:05}", one.id) if part)
