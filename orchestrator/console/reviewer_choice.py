"""A call's reviewers as shown on its page: who takes part, who can be chosen, and which assignments a choice would
end."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from assayer_client.reviewing import WithdrawnAssignment
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.models import Member

_MAX_LISTED = 100
_MAX_LISTED_WITHOUT_SEARCH = 20
"""A search field is shown if there are more reviewers than this."""


class ReviewerChoice(NamedTuple):
    chosen: bool
    """True if reviewers were chosen; False if all reviewers take part."""
    asked: list[Member]
    """The reviewers who take part, sorted by name."""
    not_blind: int
    """Number of these who could read the reports in an earlier role and therefore get no assignments."""
    unseen: int
    """Number of the others who have never signed in."""
    gone: int
    """Number of chosen people who are no longer reviewers."""
    reviewers: int
    """Number of reviewers in the tenant."""
    listed: list[tuple[Member, bool]]
    """The reviewers in the list of checkboxes, and whether each is ticked; chosen reviewers come first."""
    matching: int
    """Number of reviewers that match the search; only the first 100 are listed."""
    find: str

    @property
    def searchable(self) -> bool:
        return self.reviewers > _MAX_LISTED_WITHOUT_SEARCH or bool(self.find)


class EndedAssignments(NamedTuple):
    """Assignments that the selected reviewers would end, shown for confirmation."""

    withdrawn: tuple[WithdrawnAssignment, ...]
    ticked: tuple[str, ...]
    listed: tuple[str, ...]

    @property
    def by_member(self) -> Mapping[str, int]:
        return Counter(item.member for item in self.withdrawn)

    @property
    def digest(self) -> str:
        """Return a digest of the assignments that would end, to detect whether they have changed."""
        pairs = sorted(f"{item.evaluation} {item.member}" for item in self.withdrawn)
        return hashlib.sha256("\n".join(pairs).encode()).hexdigest()


def build_reviewer_choice(
    members: Iterable[Member], chosen: frozenset[MemberId] | None, find: str, not_blind: Collection[MemberId]
) -> ReviewerChoice:
    """Return a call's reviewers for its page. `members` are the tenant's members, sorted by name. `find` holds search
    words, all of which must occur in a reviewer's name, address or institutions. `not_blind` holds the members who
    could read the reports in an earlier role."""
    reviewing = [member for member in members if member.role == "reviewer" and member.removed_at is None]
    asked = [item for item in reviewing if chosen is None or item.id in chosen]
    words = find.casefold().split()
    matching = [item for item in reviewing if all(word in _get_search_text(item) for word in words)]
    ticked = {item.id for item in asked} if chosen is not None else set[MemberId]()
    matching.sort(key=lambda item: item.id not in ticked)
    return ReviewerChoice(
        chosen=chosen is not None,
        asked=asked,
        not_blind=sum(item.id in not_blind for item in asked),
        unseen=sum(not item.can_sign_in and item.id not in not_blind for item in asked),
        gone=len(chosen or ()) - len(ticked),
        reviewers=len(reviewing),
        listed=[(item, item.id in ticked) for item in matching[:_MAX_LISTED]],
        matching=len(matching),
        find=find,
    )


def merge_ticked_reviewers(
    chosen: frozenset[MemberId] | None, reviewing: Set[str], listed: Sequence[str], ticked: Sequence[str]
) -> tuple[str, ...]:
    """Return the reviewers chosen in a submitted form. The choice is unchanged for reviewers who were not listed;
    people who are no longer reviewers are dropped."""
    kept_reviewers = (frozenset[str](chosen or ()) & reviewing) - set(listed)
    return tuple(sorted(kept_reviewers | set(ticked)))


def _get_search_text(member: Member) -> str:
    return f"{member.name}\n{member.email}\n{member.affiliation}".casefold()
