"""Roles, and the acts that each role permits."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from assayer_client.people import PersonRole, Role
from assayer_client.resources import MemberId

ROLES: tuple[Role, ...] = get_args(Role)

Act: TypeAlias = Literal[
    "see calls",
    "manage calls",
    "erase",
    "see people",
    "invite people",
    "change addresses",
    "issue keys",
    "assign reviewers",
    "give reviews",
    "see the panel",
    "remark",
    "override",
    "sign off",
    "read the audit log",
]
ACTS: tuple[Act, ...] = get_args(Act)

PERMISSIONS: Mapping[Act, frozenset[Role]] = {
    "see calls": frozenset({"owner", "officer", "auditor", "machine"}),
    "manage calls": frozenset({"owner", "officer", "machine"}),
    "erase": frozenset({"owner", "machine"}),
    "see people": frozenset({"owner", "officer", "auditor", "machine"}),
    "invite people": frozenset({"owner", "officer", "machine"}),
    "change addresses": frozenset({"owner", "machine"}),
    "issue keys": frozenset({"owner", "machine"}),
    "assign reviewers": frozenset({"owner", "officer", "machine"}),
    "give reviews": frozenset({"reviewer"}),
    "see the panel": frozenset({"owner", "officer", "auditor"}),
    "remark": frozenset({"owner", "officer"}),
    "override": frozenset({"owner", "officer"}),
    "sign off": frozenset({"owner"}),
    "read the audit log": frozenset({"owner", "auditor", "machine"}),
}
"""Roles that may perform each act. A machine also needs the scope of the route.

Machines never give reviews or remarks, override scores or sign off, because these decisions are made by people. They
also cannot see people's reviews, so that no program can learn to predict them. Issuing keys and changing addresses
requires responsibility for the tenant: whoever issues a key can read it and act with it, and the first person who signs
in with an address is assumed to be the member."""


MEMBER_ONLY_ACTS: frozenset[Act] = frozenset({"remark", "override", "sign off"})
"""Acts that only members can perform. A person who signs in with a key that belongs to no member has the owner role, in
order to invite the first members, but cannot perform any of these acts."""
MEMBERS_ONLY_MESSAGE = (
    "Only members can make decisions, and this key does not belong to a member. Sign in with your own account."
)


def may(role: Role, act: Act, *, is_member: bool = True) -> bool:
    """Return True if the role permits the act. `is_member` is False for a person who signed in with a key that belongs
    to no member."""
    return role in PERMISSIONS[act] and (is_member or act not in MEMBER_ONLY_ACTS)
