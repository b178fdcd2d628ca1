"""Single-use sign-in links for reviewers. They are sent by email; only a hash of each token is stored."""

import datetime as dt
from typing import NamedTuple

from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.access.sessions import SIGN_IN_LINK_DAYS, generate_token, hash_token
from orchestrator.jobs.models import TenantId
from orchestrator.store.database import Store

_INSERT_LINK = "INSERT INTO sign_in_links (hash, member, expires_at) VALUES ($1, $2, $3)"
_DELETE_EXPIRED = "DELETE FROM sign_in_links WHERE used_at IS NULL AND expires_at < $1"
_IS_VALID = """
    hash = $1 AND used_at IS NULL AND expires_at > $2
    AND members.id = member AND removed_at IS NULL AND role = 'reviewer'
"""
_SELECT_LINK = f"SELECT tenant, id, name, role FROM sign_in_links, members WHERE {_IS_VALID}"
_USE_LINK = f"UPDATE sign_in_links SET used_at = $2 FROM members WHERE {_IS_VALID} RETURNING tenant, id, name, role"


class LinkedMember(NamedTuple):
    """The reviewer whom a link signs in."""

    tenant: TenantId
    id: MemberId
    name: str
    role: PersonRole


class PgSignInLinks(Store):
    async def create(self, member: MemberId, now: dt.datetime) -> str:
        """Create a link for a member and return its token. Also delete all links that expired unused."""
        token = generate_token()
        await self._database.execute(_DELETE_EXPIRED, now)
        await self._database.execute(
            _INSERT_LINK, hash_token(token), member, now + dt.timedelta(days=SIGN_IN_LINK_DAYS)
        )
        return token

    async def find(self, token: str, now: dt.datetime) -> LinkedMember | None:
        """Return the reviewer whom a link would sign in. None if the link was used or has expired, or if the member is
        no longer a reviewer."""
        return await self._database.select_one(LinkedMember, _SELECT_LINK, hash_token(token), now)

    async def use(self, token: str, now: dt.datetime) -> LinkedMember | None:
        """Mark a link as used, and return the reviewer whom it signs in. None in the same cases as `find`."""
        return await self._database.select_one(LinkedMember, _USE_LINK, hash_token(token), now)
