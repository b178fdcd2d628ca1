"""Reviewers of a call as shown on its page: who is asked to review, who can be chosen, and which assignments a choice
would end."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from assayer_client.reviewing import WithdrawnAssignment
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.models import Member

_LISTED = 100
_LISTED_WITHOUT_SEARCH = 20
"""Maximum number of reviewers for which no search field is shown."""


class ReviewerChoice(NamedTuple):
    chosen: bool
    """True if reviewers were chosen; False if all reviewers are asked."""
    asked: list[Member]
    """Reviewers asked, sorted by name."""
    not_blind: int
    """Number of asked reviewers who could read the reports in an earlier role and therefore get no assignments."""
    unseen: int
    """Number of the remaining asked reviewers who have never signed in."""
    gone: int
    """Number of chosen people who are no longer reviewers."""
    reviewers: int
    """Number of reviewers in the tenant."""
    listed: list[tuple[Member, bool]]
    """Reviewers that can be ticked, and whether they are; chosen reviewers come first."""
    matching: int
    """Number of reviewers that match the search; only the first of them are listed."""
    find: str

    @property
    def searchable(self) -> bool:
        return self.reviewers > _LISTED_WITHOUT_SEARCH or bool(self.find)


class EndedByChoice(NamedTuple):
    """Assignments that a choice of reviewers would end, shown for confirmation."""

    withdrawn: tuple[WithdrawnAssignment, ...]
    ticked: tuple[str, ...]
    listed: tuple[str, ...]

    @property
    def by_member(self) -> Mapping[str, int]:
        return Counter(item.member for item in self.withdrawn)

    @property
    def digest(self) -> str:
        """Return a digest of the assignments to end; equal digests mean the same assignments."""
        pairs = sorted(f"{item.evaluation} {item.member}" for item in self.withdrawn)
        return hashlib.sha256("\n".join(pairs).encode()).hexdigest()


def reviewer_choice(
    members: Iterable[Member], chosen: frozenset[MemberId] | None, find: str, not_blind: Collection[MemberId]
) -> ReviewerChoice:
    """Return the reviewers of a call for its page. `members` are the tenant's members, sorted by name; `find` holds
    search words that must all occur in a reviewer's name, address or institutions; `not_blind` are members who could
    read the reports in an earlier role."""
    reviewing = [member for member in members if member.role == "reviewer" and member.removed_at is None]
    asked = [item for item in reviewing if chosen is None or item.id in chosen]
    words = find.casefold().split()
    matching = [item for item in reviewing if all(word in _words(item) for word in words)]
    ticked = {item.id for item in asked} if chosen is not None else set[MemberId]()
    matching.sort(key=lambda item: item.id not in ticked)
    return ReviewerChoice(
        chosen=chosen is not None,
        asked=asked,
        not_blind=sum(item.id in not_blind for item in asked),
        unseen=sum(not item.signs_in and item.id not in not_blind for item in asked),
        gone=len(chosen or ()) - len(ticked),
        reviewers=len(reviewing),
        listed=[(item, item.id in ticked) for item in matching[:_LISTED]],
        matching=len(matching),
        find=find,
    )


def wanted_reviewers(
    chosen: frozenset[MemberId] | None, reviewing: Set[str], listed: Sequence[str], ticked: Sequence[str]
) -> tuple[str, ...]:
    """Return the reviewers chosen by a submitted form. Reviewers who were not listed stay as they were, and people who
    are no longer reviewers are dropped."""
    kept = (frozenset[str](chosen or ()) & reviewing) - set(listed)
    return tuple(sorted(kept | set(ticked)))


def _words(member: Member) -> str:
    return f"{member.name}\n{member.email}\n{member.affiliation}".casefold()
