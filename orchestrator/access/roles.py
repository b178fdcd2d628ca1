"""Roles, and the table of acts that each role permits."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from assayer_client.people import PersonRole, Role
from assayer_client.resources import MemberId

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
"""Roles that may perform each act. A machine also needs the scope of the route. Machines never give opinions or
remarks, override scores or sign off, because people decide; nor do they see people's opinions, so that no program
learns to predict them. Issuing keys and changing addresses are reserved for people responsible for the tenant: the
issuer can read a key and act with it, and the first person to sign in with an address is taken for its owner."""


DECISIONS: frozenset[Act] = frozenset({"remark", "override", "sign off"})
"""Acts that require a person who is a member. A key that is not tied to a member opens the console as an owner, so that
the first members can be invited, but cannot perform any of these acts."""
MEMBERS_DECIDE = "Only members decide, and this key is not tied to a member. Sign in with your own account."


def may(role: Role, act: Act, *, is_member: bool = True) -> bool:
    """Return True if the role permits the act. `is_member` is False for a person who uses a machine key."""
    return role in PERMISSIONS[act] and (is_member or act not in DECISIONS)
