"""Who reviews a call, as its page shows it: who is asked, who can be ticked, whose assignments a choice would end."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from orchestrator.access.roles import MemberId
from orchestrator.api.routes.call_reviewers import WithdrawnAssignment
from orchestrator.reviewing.models import Member

__all__ = ["EndedByChoice", "ReviewerChoice", "reviewer_choice", "wanted_reviewers"]

_LISTED = 100
_FEW = 20
"""So many are looked through without searching."""


class ReviewerChoice(NamedTuple):
    chosen: bool
    """False: all reviewers are asked."""
    asked: list[Member]
    """By name."""
    not_blind: int
    """Of those, who could read the reports in another role, and get nothing."""
    unseen: int
    """Of the others, who have never signed in."""
    gone: int
    """Who were chosen, and review no more."""
    reviewers: int
    """Of the tenant."""
    listed: list[tuple[Member, bool]]
    """Who can be ticked, and whether they are: those chosen first."""
    matching: int
    """How many could be listed."""
    find: str

    @property
    def searchable(self) -> bool:
        return self.reviewers > _FEW or bool(self.find)


class EndedByChoice(NamedTuple):
    """Shown before a choice is made that ends assignments."""

    withdrawn: tuple[WithdrawnAssignment, ...]
    ticked: tuple[str, ...]
    listed: tuple[str, ...]

    @property
    def by_member(self) -> Mapping[str, int]:
        return Counter(one.member for one in self.withdrawn)

    @property
    def digest(self) -> str:
        """Where it is the same, the same assignments end."""
        pairs = sorted(f"{one.evaluation} {one.member}" for one in self.withdrawn)
        return hashlib.sha256("\n".join(pairs).encode()).hexdigest()


def reviewer_choice(
    members: Iterable[Member], chosen: frozenset[MemberId] | None, find: str, not_blind: Collection[MemberId]
) -> ReviewerChoice:
    """`members`: of the tenant, by name. `find`: words, all of which stand in a name, an address or institutions.
    `not_blind`: who could read the reports in another role."""
    reviewing = [one for one in members if one.role == "reviewer" and one.removed_at is None]
    asked = [one for one in reviewing if chosen is None or one.id in chosen]
    words = find.casefold().split()
    matching = [one for one in reviewing if all(word in _words(one) for word in words)]
    ticked = {one.id for one in asked} if chosen is not None else set[MemberId]()
    matching.sort(key=lambda one: one.id not in ticked)
    return ReviewerChoice(
        chosen=chosen is not None,
        asked=asked,
        not_blind=sum(one.id in not_blind for one in asked),
        unseen=sum(not one.signs_in and one.id not in not_blind for one in asked),
        gone=len(chosen or ()) - len(ticked),
        reviewers=len(reviewing),
        listed=[(one, one.id in ticked) for one in matching[:_LISTED]],
        matching=len(matching),
        find=find,
    )


def wanted_reviewers(
    chosen: frozenset[MemberId] | None, reviewing: Set[str], listed: Sequence[str], ticked: Sequence[str]
) -> tuple[str, ...]:
    """Who is chosen then: whoever was not listed stays as they are; those who review no more are let go."""
    kept = (frozenset[str](chosen or ()) & reviewing) - set(listed)
    return tuple(sorted(kept | set(ticked)))


def _words(member: Member) -> str:
    return f"{member.name}\n{member.email}\n{member.affiliation}".casefold()
