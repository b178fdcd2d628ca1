"""Index of a call's proposals: no conflict escapes it, and it follows the proposals of the call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import JobId
from orchestrator.reviewing.conflict_search import ConflictSearch, ReviewerDetails
from orchestrator.reviewing.expertise import KnownExpertise
from orchestrator.reviewing.proposal_index import IndexedProposal, ProposalIndex

BODY = "We rehearse what the next round of training would overwrite. " * 4
BEETLES, PROOFS = JobId("ev_1"), JobId("ev_2")
ADA = ReviewerDetails(
    MemberId("mb_1"),
    "Ada Byron",
    "MIT; University of Turin",
    "ada_b@example.org",
    ["Cy Young"],
    {"Bob Noyce": "On engines"},
)
_PARTS = [
    "Authors:", "Ada", "A.", "Lovelace", "Byron,", "Byron", "ada_b@example.org", "MIT", "Università", "degli", "Studi",
    "di", "Torino", "Cy", "Young", "Noyce,", "Bob", "\n\n", BODY,
]  # fmt: skip


def _index(**texts: str) -> ProposalIndex:
    indexed = {JobId(id): IndexedProposal("Rehearsal", text) for id, text in texts.items()}
    return ProposalIndex().copy_with_texts(indexed, dict.fromkeys(indexed, "1"))


@given(st.lists(st.sampled_from(_PARTS), max_size=12).map(" ".join))
def test_every_proposal_with_a_conflict_is_a_candidate(text: str) -> None:
    search = ConflictSearch([ADA])
    conflicts = list(search.find_conflicts("Rehearsal", text))
    possible = _index(ev_1=text, ev_2=BODY).find_possible_conflicts(search)
    assert BEETLES in possible or not conflicts
    assert PROOFS not in possible


@pytest.mark.parametrize(
    "line", ["Ada L. Byron", "Byron, A.", "ADA_B@EXAMPLE.ORG", "Università di Torino", "MIT", "Cy Young", "Bob Noyce"]
)
def test_proposals_with_each_kind_of_conflict_are_candidates(line: str) -> None:
    search = ConflictSearch([ADA])
    text = f"# Rehearsal\n\nAuthors: {line}\n\n{BODY}"
    assert len(list(search.find_conflicts("Rehearsal", text))) == 1
    assert _index(ev_1=text).find_possible_conflicts(search) == [BEETLES]


def test_parts_other_than_the_text_are_searched() -> None:
    texts = {BEETLES: IndexedProposal("Rehearsal", BODY, ["Ada Byron"]), PROOFS: IndexedProposal("Rehearsal", BODY)}
    index = ProposalIndex().copy_with_texts(texts, dict.fromkeys(texts, "1"))
    assert index.find_possible_conflicts(ConflictSearch([ADA])) == [BEETLES]


def test_the_closest_proposal_is_the_most_similar() -> None:
    index = _index(ev_1="We count bark beetles in spruce forests.", ev_2="We formalise topology in a proof assistant.")
    for known_proposals in (
        KnownExpertise(keywords=["bark beetles"]),
        KnownExpertise(papers=[("Beetles", "Spruce forests after storms.")]),
    ):
        similar = index.compute_similarities(known_proposals)
        assert similar[BEETLES] > 0.1
        assert similar[PROOFS] == 0.0
    assert index.compute_similarities(KnownExpertise()) == {BEETLES: 0.0, PROOFS: 0.0}


def test_index_without_proposals_has_no_conflicts_and_no_similarities() -> None:
    empty = ProposalIndex()
    empty.prepare()
    assert (
        empty.find_possible_conflicts(ConflictSearch([ADA])),
        empty.compute_similarities(KnownExpertise(["x"])),
    ) == ([], {})


def test_changed_and_removed_proposals_leave_the_index() -> None:
    before = _index(ev_1="Authors: Ada Byron", ev_2="Authors: Ada Byron", ev_3="Authors: Ada Byron")
    after = before.copy_with_texts(
        {BEETLES: IndexedProposal("Two", BODY)}, {BEETLES: "2", PROOFS: "1", JobId("ev_4"): "1"}
    )
    assert after.versions == {PROOFS: "1", BEETLES: "2"}
    assert after.find_possible_conflicts(ConflictSearch([ADA])) == [PROOFS]
