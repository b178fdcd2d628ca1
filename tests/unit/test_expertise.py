"""Assignment by expertise: similarity, reasons, bids and limits in a plan, and papers read from references."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.models import Paper, PaperId
from assayer_client.expertise import ReviewerPaper
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.assigning import plan_assignments
from orchestrator.reviewing.conflict_search import ConflictSearch, ReviewerDetails
from orchestrator.reviewing.expertise import ExpertiseMatch, KnownExpertise, compute_assignment_values
from orchestrator.services.expertise import find_coauthors, look_up_papers, parse_papers, remove_duplicate_papers
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

FOREST = ("Bark beetles in spruce forests", "We count bark beetles in spruce forests after storms.")
PROOF = ("Proof assistants for topology", "We formalise topology in a proof assistant with dependent types.")
BODY = "We rehearse what the next round of training would overwrite. " * 4


def test_proposals_are_assigned_to_reviewers_with_similar_papers() -> None:
    match = ExpertiseMatch(
        [FOREST, PROOF], [KnownExpertise(papers=[PROOF]), KnownExpertise(keywords=["bark beetles", "forests"])]
    )
    values = compute_assignment_values(match.similarity, {})
    plan = plan_assignments({"forest": 1, "proof": 1}, ["prover", "forester"], set(), {}, None, values)
    assert plan.pairs == [("forest", "forester"), ("proof", "prover")]


def test_reason_names_close_papers_and_shared_words() -> None:
    match = ExpertiseMatch(
        [FOREST], [KnownExpertise(papers=[PROOF, FOREST]), KnownExpertise(keywords=["bark beetles"]), KnownExpertise()]
    )
    assert match.explain_pair(0, 0).startswith(
        "1 of the reviewer's 2 papers is close: “Bark beetles in spruce forests”."
    )
    assert "spruce" in match.explain_pair(0, 0)
    assert match.explain_pair(0, 1) in ("Shared words: bark, beetles.", "Shared words: beetles, bark.")
    assert match.explain_pair(0, 2) == "Nothing is known about this reviewer's expertise."


def test_reason_says_that_no_paper_is_close() -> None:
    match = ExpertiseMatch([FOREST], [KnownExpertise(papers=[PROOF]), KnownExpertise(papers=[PROOF, PROOF])])
    assert match.explain_pair(0, 0) == "The reviewer's only known paper is not close: “Proof assistants for topology”."
    assert match.explain_pair(0, 1).startswith(
        "None of the reviewer's 2 papers is close; the nearest is “Proof assistants"
    )


def test_texts_without_words_are_compared_without_error() -> None:
    match = ExpertiseMatch([("", "…")], [KnownExpertise(), KnownExpertise(keywords=["?!"])])
    assert match.similarity.tolist() == [[0.0, 0.0]]


def test_eager_bid_outweighs_a_slightly_closer_reviewer_and_unwilling_is_the_last_resort() -> None:
    similarity = np.array([[0.5, 0.4]], dtype=np.float32)
    people, needed = ["closer", "eager"], {"p": 1}
    values = compute_assignment_values(similarity, {(0, 1): "eager"})
    assert plan_assignments(needed, people, set(), {}, None, values).pairs == [("p", "eager")]
    values = compute_assignment_values(similarity, {(0, 0): "unwilling"})
    assert plan_assignments(needed, people, set(), {}, None, values).pairs == [("p", "eager")]
    assert plan_assignments({"p": 2}, people, set(), {}, None, values).missing_reviewers == {}


def test_expertise_of_a_single_known_reviewer_counts() -> None:
    similarity = np.zeros((2, 200), dtype=np.float32)
    similarity[1, 7] = 0.2
    assert compute_assignment_values(similarity, {})[1, 7] == pytest.approx(1.0)


@given(
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(1, 6),
    st.sets(st.tuples(st.integers(0, 11), st.integers(0, 5)), max_size=20),
    st.integers(0, 1_000),
)
def test_plan_by_value_respects_conflicts_and_limits_and_covers_every_proposal(
    proposals: int, reviewers: int, reviews_per_proposal: int, max_load: int, barred: set[tuple[int, int]], seed: int
) -> None:
    names, people = [f"p{n}" for n in range(proposals)], [f"r{n}" for n in range(reviewers)]
    closed = {(f"p{p}", f"r{r}") for p, r in barred}
    values = np.random.default_rng(seed).random((proposals, reviewers))
    plan = plan_assignments(dict.fromkeys(names, reviews_per_proposal), people, closed, {}, max_load, values)
    assert len(set(plan.pairs)) == len(plan.pairs)
    assert not set(plan.pairs) & closed
    loads, filled = Counter(reviewer for _, reviewer in plan.pairs), Counter(name for name, _ in plan.pairs)
    assert max(loads.values(), default=0) <= max_load
    for name in names:
        assert filled[name] + plan.missing_reviewers.get(name, 0) == reviews_per_proposal
        free = [
            reviewer
            for reviewer in people
            if loads[reviewer] < max_load and (name, reviewer) not in {*closed, *plan.pairs}
        ]
        assert not (plan.missing_reviewers.get(name) and free), "a reviewer is left for the proposal"


def test_plan_by_value_is_the_best_of_all_plans() -> None:
    values = np.random.default_rng(3).random((40, 30))
    plan = plan_assignments({f"p{n}": 1 for n in range(30)}, [f"r{n}" for n in range(30)], set(), {}, 1, values[:30])
    from scipy.optimize import linear_sum_assignment

    best = values[:30][linear_sum_assignment(-values[:30])].sum()
    total = sum(values[int(p[1:]), int(r[1:])] for p, r in plan.pairs)
    assert total == pytest.approx(best, abs=30 * 2e-3)


def test_without_a_limit_no_reviewer_gets_more_than_the_mean_load() -> None:
    values = np.zeros((12, 3))
    values[:, 0] = 1.0
    plan = plan_assignments({f"p{n}": 1 for n in range(12)}, ["a", "b", "c"], set(), {}, None, values)
    assert Counter(reviewer for _, reviewer in plan.pairs) == {"a": 4, "b": 4, "c": 4}


def test_papers_are_read_from_bibtex_and_from_lines() -> None:
    bibtex = "@article{a, title={Counting bark beetles}, author={Byron, Ada and Noyce, Bob}, year={2024}}"
    (paper,), unread = parse_papers(bibtex)
    assert (paper.title, paper.authors, paper.year, unread) == (
        "Counting bark beetles",
        ("Ada Byron", "Bob Noyce"),
        2024,
        [],
    )
    lines = "• Counting bark beetles in spruce (2024) https://doi.org/10.1000/xyz\n10.1000/abc\n\nTopology by machine\n"
    papers, unread = parse_papers(lines)
    assert [paper.title for paper in papers] == ["Counting bark beetles in spruce", "Topology by machine"]
    assert papers[0].doi == "10.1000/xyz"
    assert unread == ["10.1000/abc"]


async def test_listed_papers_get_the_corpus_abstract_and_namesakes_papers_are_separate() -> None:
    def record(id: str, title: str, *authors: str) -> Paper:
        return Paper(id=PaperId(id), title=title, abstract=f"About {title}.", authors=authors, source="corpus")

    corpus = MemoryCorpus(
        [
            record("1", "Counting bark beetles in spruce forests", "Ada Byron", "Bob Noyce"),
            record("2", "Counting beetles once more in forests", "Ada Byron", "Cy Young"),
            record("3", "Counting beetles by drone in forests", "Dee Dee"),
        ],
        HashingEmbedder(),
    )
    listed_paper = ReviewerPaper(title="Counting bark beetles in spruce forests")
    first, *other_papers = await look_up_papers(corpus, "Ada Byron", [listed_paper], [])
    assert (first.abstract, first.in_corpus, first.listed_by_person) == (
        "About Counting bark beetles in spruce forests.",
        True,
        True,
    )
    assert [(paper.title, paper.listed_by_person) for paper in other_papers] == [
        ("Counting beetles once more in forests", False)
    ]


def test_coauthors_are_those_of_recent_papers() -> None:
    papers = [
        ReviewerPaper(title="New paper", authors=("Byron, Ada", "Bob Noyce"), year=2025),
        ReviewerPaper(title="Old paper", authors=("A. Byron", "Cy Young"), year=2015),
        ReviewerPaper(title="Large collaboration", authors=tuple(f"Person Number{n}" for n in range(60)), year=2025),
    ]
    assert find_coauthors("Ada Byron", papers, 2022) == {"Bob Noyce": "New paper"}


def test_repeated_titles_are_kept_once() -> None:
    papers = [ReviewerPaper(title="One paper", listed_by_person=False), ReviewerPaper(title="One Paper.")]
    assert [paper.listed_by_person for paper in remove_duplicate_papers(papers)] == [True]


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        (f"# Rehearsal\n\nAuthors: Bob Noyce\n\n{BODY}", ["person"]),
        (f"# Rehearsal\n\nAuthors: Cy Young\n\n{BODY}", ["coauthor"]),
        (f"# Rehearsal\n\n{BODY} Cy Young and Bob Noyce have shown this.\n\n{BODY}", []),
        (f"# Rehearsal\n\nAuthors: Ada Byron, Cy Young\n\n{BODY}", ["name"]),
    ],
)
def test_declared_people_and_coauthors_are_conflicts_where_they_identify_the_applicant(
    text: str, sources: list[str]
) -> None:
    ada = ReviewerDetails(MemberId("mb_1"), "Ada Byron", "", people=("Bob Noyce",), coauthors={"Cy Young": "Beetles"})
    conflicts = list(ConflictSearch([ada]).find_conflicts("Rehearsal", text))
    assert [item.source for item in conflicts] == sources
    if sources == ["coauthor"]:
        assert conflicts[0].words.startswith("Cy Young, co-author of “Beetles”")
