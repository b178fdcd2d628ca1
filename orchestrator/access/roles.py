"""Roles, and the one table of what each may do."""

from collections.abc import Mapping
from typing import Literal, NewType, TypeAlias, get_args

__all__ = ["ACTS", "PERMISSIONS", "ROLES", "Act", "MemberId", "PersonRole", "Role", "may"]

MemberId = NewType("MemberId", str)
"""Of a person of a tenant: `mb_…`."""

PersonRole: TypeAlias = Literal["owner", "officer", "reviewer", "auditor"]
Role: TypeAlias = Literal["owner", "officer", "reviewer", "auditor", "machine"]
"""owner: answers for the tenant; officer: runs its calls; reviewer: gives opinions on what is assigned; auditor: reads
everything and changes nothing; machine: an API key that belongs to no person."""
ROLES: tuple[Role, ...] = get_args(Role)

Act: TypeAlias = Literal[
    "see calls",
    "run calls",
    "erase",
    "see people",
    "invite people",
    "change addresses",
    "give keys",
    "assign reviewers",
    "give opinions",
    "see the panel",
    "remark",
    "override",
    "sign off",
    "read the audit log",
]
ACTS: tuple[Act, ...] = get_args(Act)

PERMISSIONS: Mapping[Act, frozenset[Role]] = {
    "see calls": frozenset({"owner", "officer", "auditor", "machine"}),
    "run calls": frozenset({"owner", "officer", "machine"}),
    "erase": frozenset({"owner", "machine"}),
    "see people": frozenset({"owner", "officer", "auditor", "machine"}),
    "invite people": frozenset({"owner", "officer", "machine"}),
    "change addresses": frozenset({"owner", "machine"}),
    "give keys": frozenset({"owner", "machine"}),
    "assign reviewers": frozenset({"owner", "officer", "machine"}),
    "give opinions": frozenset({"reviewer"}),
    "see the panel": frozenset({"owner", "officer", "auditor"}),
    "remark": frozenset({"owner", "officer"}),
    "override": frozenset({"owner", "officer"}),
    "sign off": frozenset({"owner"}),
    "read the audit log": frozenset({"owner", "auditor", "machine"}),
}
"""A machine needs the scope of the route besides. It never gives an opinion, remarks, overrides or signs off: people
decide. Nor does it see what people think, so that nothing learns to tell them. Whoever gives a key reads it, and could
act with it, and whoever signs in first by an address is taken for the person who has it: both are for those who answer
for the tenant."""


def may(role: Role, act: Act) -> bool:
    return role in PERMISSIONS[act]
