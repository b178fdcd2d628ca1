"""Titles of proposals as their reviewers may read them: masked if the proposals are judged blind."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import asyncpg

from assayer.blinding.blind import blinded
from assayer.errors import InputError
from assayer.models import Idea
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.store.database import Database
from orchestrator.store.json_columns import from_json_column

_MOST_REMEMBERED = 20_000
_MOST_MASKED = 100
"""Maximum titles masked at once: masking takes about 10 to 30 ms a proposal. A report contains the masked title
already."""

_SAID = """
    SELECT id, blind,
           (SELECT report #>> '{idea,title}' FROM evaluations WHERE evaluations.id = jobs.run_id) AS judged
    FROM jobs WHERE tenant = $1 AND id = ANY($2)
"""
_IDEAS = "SELECT id, request -> 'idea' AS idea FROM jobs WHERE tenant = $1 AND id = ANY($2)"


class MaskedTitles:
    """Masked titles of proposals, with a cache, because the text of a proposal does not change."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[tuple[TenantId, JobId], str | None] = OrderedDict()

    async def of(self, tenant: TenantId, evaluations: Sequence[JobId]) -> dict[JobId, str | None]:
        """Return the masked titles. None: not judged blind, so the title may be shown. Missing: judged blind,
        but not read or masked yet."""
        new = [fromkey for fromkey in dict.fromkeys(evaluations) if (tenant, fromkey) not in self._known]
        waiting = list[JobId]()
        for row in await self._database.fetch(_SAID, tenant, new) if new else ():
            if row["blind"] and row["judged"] is None:
                waiting.append(row["id"])
            else:
                self._known[tenant, row["id"]] = row["judged"] if row["blind"] else None
        if waiting:
            ideas = await self._database.fetch(_IDEAS, tenant, waiting[:_MOST_MASKED])
            for id, title in await asyncio.to_thread(_masked, ideas):
                self._known[tenant, id] = title
        known = {
            evaluation: self._known[tenant, evaluation]
            for evaluation in evaluations
            if (tenant, evaluation) in self._known
        }
        for item in known:
            self._known.move_to_end((tenant, item))
        while len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return known


def _masked(rows: Sequence[asyncpg.Record]) -> list[tuple[JobId, str]]:
    """Return the masked titles of the proposals whose text exists."""
    found = list[tuple[JobId, str]]()
    for row in rows:
        if row["idea"] in (None, "null"):
            continue
        try:
            found.append((row["id"], blinded(from_json_column(Idea, row["idea"], f"The idea of {row['id']}")).title))
        except InputError:  # masking leaves too little to be judged: the job will say so
            found.append((row["id"], ""))
    return found
