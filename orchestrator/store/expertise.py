"""Reviewers' expertise, and the people and institutions with which they have a conflict of interest."""

from collections.abc import Collection

from assayer_client.calls import CallTerms
from assayer_client.expertise import Expertise
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.database import Connection, in_transaction
from orchestrator.store.json_columns import replace_nul, replace_nul_in_json
from orchestrator.store.rows import from_row

_COLUMNS = """
    members.id AS member, coalesce(version, 0) AS version, coalesce(keywords, '{}') AS keywords,
    coalesce(papers, '[]') AS papers, coalesce(institutions, '{}') AS institutions, coalesce(people, '{}') AS people,
    declared_at, coalesce(changed_by, '') AS changed_by, changed_at
"""
_SELECT_EXPERTISE = f"""
    SELECT {_COLUMNS} FROM members LEFT JOIN expertise ON expertise.member = members.id
    WHERE members.tenant = $1 AND ($2::text[] IS NULL AND expertise.member IS NOT NULL OR members.id = ANY($2))
"""
_LOCK_MEMBER = """
    SELECT version FROM members LEFT JOIN expertise ON expertise.member = members.id
    WHERE members.tenant = $1 AND members.id = $2 AND members.removed_at IS NULL FOR NO KEY UPDATE OF members
"""
_UPSERT_EXPERTISE = """
    INSERT INTO expertise AS stored
        (member, keywords, papers, institutions, people, version, declared_at, changed_by, changed_at)
    VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $7 THEN $9::timestamptz END, $8, $9)
    ON CONFLICT (member) DO UPDATE
    SET keywords = $2, papers = $3, institutions = $4, people = $5, version = $6, changed_by = $8, changed_at = $9,
        declared_at = CASE WHEN $7 THEN $9 ELSE stored.declared_at END
"""
_SELECT_BY_MENTION = """
    SELECT members.id, members.name FROM expertise JOIN members ON members.id = member
    WHERE tenant = $1 AND strpos(lower(concat_ws(' ', array_to_string(people, ' '), papers::text)), $2) > 0
    ORDER BY members.name, members.id
"""
_SELECT_COAUTHOR_YEARS = """
    SELECT coalesce((terms ->> 'coauthor_years')::int, $3) AS years,
           extract(year FROM coalesce((terms ->> 'deadline')::date, created_at::date)) AS year
    FROM batches LEFT JOIN call_terms ON call_terms.batch = batches.id WHERE tenant = $1 AND batches.id = $2
"""


class PgExpertise(LoggedStore):
    async def get(self, tenant: TenantId, member: MemberId) -> Expertise | None:
        """Return a member's expertise; empty with version 0 if none is stored, None if the member does not exist."""
        return (await self.get_for_members(tenant, [member])).get(member)

    async def get_for_members(
        self, tenant: TenantId, members: Collection[MemberId] | None = None
    ) -> dict[MemberId, Expertise]:
        """Return the expertise of these members by member id; if `members` is None, of all members for whom it is
        stored."""
        member_ids = None if members is None else list(members)
        rows = await self._database.fetch(_SELECT_EXPERTISE, tenant, member_ids)
        return {row["member"]: from_row(Expertise, row) for row in rows}

    async def find_members_by_mention(self, tenant: TenantId, name: str) -> list[tuple[MemberId, str]]:
        """Return the id and name of each member whose papers or declared people mention `name`."""
        search_name = replace_nul(" ".join(name.lower().split()))
        rows = await self._database.fetch(_SELECT_BY_MENTION, tenant, search_name) if len(search_name) > 2 else []
        return [(MemberId(row["id"]), row["name"]) for row in rows]

    @in_transaction
    async def store(
        self, connection: Connection, tenant: TenantId, expertise: Expertise, by: ActBy
    ) -> Expertise | None:
        """Replace a member's expertise; `expertise.version` is the version that it replaces. Institutions and people
        count as declared if the member saves them personally. Return None if the member does not exist. Raises
        ReviewRefused if another version has been stored in the meantime."""
        row = await connection.fetchrow(_LOCK_MEMBER, tenant, expertise.member)
        if row is None:
            return None
        if (row["version"] or 0) != expertise.version:
            raise ReviewRefused(
                "This expertise was changed after you opened it. Nothing was saved.",
                "Check the current version, then save again.",
            )
        papers = replace_nul_in_json(f"[{','.join(paper.model_dump_json() for paper in expertise.papers)}]")
        keywords, institutions, people = (
            [replace_nul(text) for text in texts]
            for texts in (expertise.keywords, expertise.institutions, expertise.people)
        )
        is_own, version = by.actor.id == expertise.member, expertise.version + 1
        values = (keywords, papers, institutions, people, version, is_own, replace_nul(by.actor.name), by.at)
        await connection.execute(_UPSERT_EXPERTISE, expertise.member, *values)
        listed_count = sum(paper.listed_by_person for paper in expertise.papers)
        content = {"keywords": keywords, "papers": listed_count, "institutions": institutions, "people": people}
        await self._log.append(
            connection, tenant, by, "expertise changed", expertise.member, declared=is_own, **content
        )
        (stored_row,) = await connection.fetch(_SELECT_EXPERTISE, tenant, [expertise.member])
        return from_row(Expertise, stored_row)

    async def get_first_coauthor_year(self, tenant: TenantId, batch: BatchId) -> int | None:
        """Return the earliest year in which a joint paper counts as a conflict of interest in a call; None if the call
        does not check for co-authors."""
        (row,) = await self._database.fetch(_SELECT_COAUTHOR_YEARS, tenant, batch, CallTerms().coauthor_years)
        return None if row["years"] == 0 else int(row["year"]) - int(row["years"])
