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
    has_selection: bool
    """True if reviewers were chosen; False if all reviewers take part."""
    participants: list[Member]
    """The reviewers who take part, sorted by name."""
    not_blind_count: int
    """Number of these who could read the reports in an earlier role and therefore get no assignments."""
    never_signed_in: int
    """Number of the others who have never signed in."""
    no_longer_reviewers: int
    """Number of chosen people who are no longer reviewers."""
    reviewers: int
    """Number of reviewers in the tenant."""
    listed: list[tuple[Member, bool]]
    """The reviewers in the list of checkboxes, and whether each is ticked; chosen reviewers come first."""
    match_count: int
    """Number of reviewers that match the search; only the first 100 are listed."""
    search: str

    @property
    def has_search(self) -> bool:
        return self.reviewers > _MAX_LISTED_WITHOUT_SEARCH or bool(self.search)


class EndedAssignments(NamedTuple):
    """Assignments that the selected reviewers would end, shown for confirmation."""

    withdrawn: tuple[WithdrawnAssignment, ...]
    ticked: tuple[str, ...]
    listed: tuple[str, ...]

    @property
    def counts_by_member(self) -> Mapping[str, int]:
        return Counter(assignment.member for assignment in self.withdrawn)

    @property
    def digest(self) -> str:
        """Digest of the assignments that would end, to detect whether they have changed since the page was shown."""
        pairs = sorted(f"{assignment.evaluation} {assignment.member}" for assignment in self.withdrawn)
        return hashlib.sha256("\n".join(pairs).encode()).hexdigest()


def build_reviewer_choice(
    members: Iterable[Member], chosen: frozenset[MemberId] | None, search: str, not_blind: Collection[MemberId]
) -> ReviewerChoice:
    """Return a call's reviewers for its page. `members` are the tenant's members, sorted by name. `search` holds search
    words, all of which must occur in a reviewer's name, address or institutions. `not_blind` holds the members who
    could read the reports in an earlier role."""
    reviewers = [member for member in members if member.role == "reviewer" and member.removed_at is None]
    participants = [reviewer for reviewer in reviewers if chosen is None or reviewer.id in chosen]
    words = search.casefold().split()
    matching = [reviewer for reviewer in reviewers if all(word in _get_search_text(reviewer) for word in words)]
    ticked = {participant.id for participant in participants} if chosen is not None else set[MemberId]()
    matching.sort(key=lambda reviewer: reviewer.id not in ticked)
    return ReviewerChoice(
        has_selection=chosen is not None,
        participants=participants,
        not_blind_count=sum(participant.id in not_blind for participant in participants),
        never_signed_in=sum(
            not participant.can_sign_in and participant.id not in not_blind for participant in participants
        ),
        no_longer_reviewers=len(chosen or ()) - len(ticked),
        reviewers=len(reviewers),
        listed=[(reviewer, reviewer.id in ticked) for reviewer in matching[:_MAX_LISTED]],
        match_count=len(matching),
        search=search,
    )


def merge_ticked_reviewers(
    chosen: frozenset[MemberId] | None, reviewer_ids: Set[str], listed: Sequence[str], ticked: Sequence[str]
) -> tuple[str, ...]:
    """Return the reviewers chosen in a submitted form. The choice is unchanged for reviewers who were not listed;
    people who are no longer reviewers are dropped."""
    unlisted_reviewers = (frozenset[str](chosen or ()) & reviewer_ids) - set(listed)
    return tuple(sorted(unlisted_reviewers | set(ticked)))


def _get_search_text(member: Member) -> str:
    return f"{member.name}\n{member.email}\n{member.affiliation}".casefold()
