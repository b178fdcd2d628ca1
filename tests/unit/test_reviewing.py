"""Conflicts of interest, assignment of reviewers, and agreement between reviewers."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.ideas.parsing import parse_idea
from assayer.models import Absent
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.agreement import compute_mean_kappa, compute_pair_agreements
from orchestrator.reviewing.assigning import plan_assignments
from orchestrator.reviewing.conflict_search import ConflictSearch, ReviewerDetails

BODY = "We rehearse what the next round of training would overwrite. " * 4


def find_conflict_sources(text: str, name: str, affiliation: str = "", title: str = "") -> list[str]:
    return [
        item.source
        for item in ConflictSearch([ReviewerDetails(MemberId("mb_1"), name, affiliation)]).find_conflicts(title, text)
    ]


def test_name_conflict_is_found_despite_accents_and_case() -> None:
    assert find_conflict_sources(f"# Rehearsal\n\nAuthors: Jose Munoz\n\n{BODY}", "José Muñoz") == ["name"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            parse_idea(f"{BODY}\n\n## References\n\n[1] Grace Hopper. The education of a computer. 1952.", "a").text,
            "Grace Hopper",
        ),
        (f"{BODY} The grace hoppers showed was great.", "Grace Hopper"),
        (f"# Rehearsal\n\nAuthors: Grace Hopperson\n\n{BODY}", "Grace Hopper"),
        (f"# Rehearsal\n\nAuthors: Grace Hopper\n\n{BODY}", "Grace"),
        (f"# Rehearsal\n\nAuthors: Grace Hopper\n\n{BODY}", ""),
    ],
)
def test_cited_or_similar_names_are_not_conflicts(text: str, name: str) -> None:
    assert find_conflict_sources(text, name) == []


_PEOPLE = [
    ReviewerDetails(MemberId("mb_1"), "Grace Hopper", "Yale University"),
    ReviewerDetails(MemberId("mb_2"), "José Muñoz", "ETH Zürich; Yale University"),
    ReviewerDetails(MemberId("mb_3"), "Ada B. Byron", ""),
    ReviewerDetails(MemberId("mb_4"), "Cher", "Intel"),
]
_LINES = st.sampled_from(
    [
        "Authors: Grace Hopper, ETH Zürich",
        "Authors: J. Munoz",
        "Ada Byron",
        "We thank Hopper, G. of Yale University.",
        "## References",
        "## Method",
        "[1] Ada B. Byron. Notes. 1843.",
        BODY,
    ]
)


@given(st.lists(_LINES, max_size=8))
def test_conflict_search_for_all_reviewers_matches_individual_searches(lines: list[str]) -> None:
    text = "\n\n".join(["# Rehearsal", *lines])
    all_conflicts = list(ConflictSearch(_PEOPLE).find_conflicts("Rehearsal", text))
    assert all_conflicts == [
        item for reviewer in _PEOPLE for item in ConflictSearch([reviewer]).find_conflicts("Rehearsal", text)
    ]


def test_separate_masked_spans_do_not_combine_into_a_name() -> None:
    text = f"# Rehearsal\n\nAuthors: Bob Noyce, Yale\n\nUniversity of Basel\n\n{BODY}"
    assert find_conflict_sources(text, "Ada Byron", "Yale University") == []


@given(
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(1, 3),
    st.sets(st.tuples(st.integers(0, 11), st.integers(0, 5)), max_size=20),
    st.dictionaries(st.integers(0, 5), st.integers(0, 5)),
)
def test_assignments_are_unique_conflict_free_and_shortfalls_are_reported(
    proposals: int, reviewers: int, reviews_per_proposal: int, barred: set[tuple[int, int]], loads: dict[int, int]
) -> None:
    names = [f"p{number}" for number in range(proposals)]
    people = [f"r{number}" for number in range(reviewers)]
    closed = {(f"p{p}", f"r{r}") for p, r in barred}
    plan = plan_assignments(
        dict.fromkeys(names, reviews_per_proposal), people, closed, {f"r{r}": n for r, n in loads.items()}
    )
    assert len(set(plan.pairs)) == len(plan.pairs)
    assert not set(plan.pairs) & closed
    review_counts = Counter(proposal for proposal, _ in plan.pairs)
    for name in names:
        possible = sum((name, reviewer) not in closed for reviewer in people)
        assert review_counts[name] == min(reviews_per_proposal, possible)
        assert plan.missing_reviewers.get(name, 0) == reviews_per_proposal - review_counts[name]


def test_reviewer_loads_are_balanced_including_earlier_assignments() -> None:
    needed = {f"p{number}": 2 for number in range(40)}
    people = [f"r{number}" for number in range(7)]
    even_loads = Counter(reviewer for _, reviewer in plan_assignments(needed, people, set(), {}).pairs)
    assert max(even_loads.values()) - min(even_loads.values()) <= 1
    later_loads = Counter(reviewer for _, reviewer in plan_assignments(needed, people, set(), {"r0": 9}).pairs)
    assert 9 + later_loads["r0"] - later_loads["r1"] <= 1


def test_reviewer_panels_vary_between_proposals() -> None:
    plan = plan_assignments({f"p{number}": 2 for number in range(30)}, ["a", "b", "c", "d"], set(), {})
    panels = {frozenset(reviewer for proposal, reviewer in plan.pairs if proposal == name) for name, _ in plan.pairs}
    assert len(panels) >= 4


@pytest.mark.parametrize("second", [dict.fromkeys("vwxyz", 3), {"v": 3, "w": 3}])
def test_undefined_kappa_is_reported_as_missing(second: dict[str, int]) -> None:
    opinions = [("a", proposal, 3) for proposal in "vwxyz"] + [("b", *item) for item in second.items()]
    (pair,) = compute_pair_agreements(*zip(*opinions, strict=True))
    assert isinstance(pair.kappa, Absent)
    assert isinstance(compute_mean_kappa([pair]), Absent)
