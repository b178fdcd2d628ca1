from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import INTER, UNKNOWN
from assayer.methods.grapheval.plagiarism import (
    IdeaViewpoints,
    NearbyViewpoint,
    PlagiarismLimits,
    find_resemblance_in_graph,
    find_resemblance_to_neighbours,
    find_resemblances_within_batch,
)
from assayer.methods.grapheval.ports import NeighbourIndex
from assayer.methods.grapheval.synthetic_plagiarism import (
    PLAGIARISM_KINDS,
    PlagiarismKind,
    add_plagiarised_ideas,
    plagiarise,
)
from assayer.models import IdeaId
from index.viewpoint_neighbours import FaissNeighbours
from tests.unit.grapheval_graphs import make_random_graph, make_separable_graph

LIMITS = PlagiarismLimits(cosine=0.9, share=0.5)
ME, ANNA, BERT = IdeaId("me"), IdeaId("anna"), IdeaId("bert")


def make_nearby_viewpoints(*cosines: tuple[IdeaId, float]) -> list[NearbyViewpoint]:
    return [NearbyViewpoint(idea, f"{idea} says", cosine) for idea, cosine in cosines]


def test_idea_sharing_most_viewpoints_with_another_idea_is_a_copy() -> None:
    resemblance = find_resemblance_to_neighbours(
        ME,
        ["a", "b", "c"],
        [
            make_nearby_viewpoints((ANNA, 0.99)),
            make_nearby_viewpoints((BERT, 0.97), (ANNA, 0.95)),
            make_nearby_viewpoints((BERT, 0.4)),
        ],
        LIMITS,
    )
    assert resemblance is not None
    assert (resemblance.kind, resemblance.closest, resemblance.viewpoints) == ("copy", ANNA, 3)
    assert resemblance.share == resemblance.closest_share == pytest.approx(2 / 3)
    assert [(pair.text, pair.other, pair.cosine) for pair in resemblance.pairs] == [
        ("a", ANNA, 0.99),
        ("b", ANNA, 0.95),
    ]


def test_reworded_statements_near_a_single_idea_are_a_paraphrase() -> None:
    limits = LIMITS.model_copy(update={"paraphrase": 0.75})
    nearby = [
        make_nearby_viewpoints((ANNA, 0.8), (BERT, 0.6)),
        make_nearby_viewpoints((BERT, 0.7)),
        make_nearby_viewpoints((ANNA, 0.78)),
        make_nearby_viewpoints((ANNA, 0.2)),
        make_nearby_viewpoints(),
    ]
    resemblance = find_resemblance_to_neighbours(ME, list("abcde"), nearby, limits)
    assert resemblance is not None
    assert (resemblance.kind, resemblance.closest, resemblance.share) == ("paraphrase", ANNA, 0.4)
    assert [pair.text for pair in resemblance.pairs] == ["a", "c"]
    assert find_resemblance_to_neighbours(ME, list("abcde"), nearby, LIMITS) is None


@pytest.mark.parametrize(
    "nearby",
    [
        [make_nearby_viewpoints((ANNA, 0.8)), make_nearby_viewpoints((ANNA, 0.8)), make_nearby_viewpoints()],
        [
            make_nearby_viewpoints((ANNA, 0.8)),
            make_nearby_viewpoints((BERT, 0.8)),
            make_nearby_viewpoints(),
            make_nearby_viewpoints(),
        ],
        [
            make_nearby_viewpoints((ANNA, 0.8)),
            make_nearby_viewpoints((ANNA, 0.69)),
            make_nearby_viewpoints(),
            make_nearby_viewpoints(),
        ],
        [
            make_nearby_viewpoints((ME, 0.8)),
            make_nearby_viewpoints((ME, 0.8)),
            make_nearby_viewpoints(),
            make_nearby_viewpoints(),
        ],
    ],
    ids=["too few statements", "two ideas", "too far", "its own"],
)
def test_paraphrase_requires_half_of_statements_near_a_single_other_idea(nearby: list[list[NearbyViewpoint]]) -> None:
    limits = LIMITS.model_copy(update={"paraphrase": 0.75})
    assert find_resemblance_to_neighbours(ME, [str(n) for n in range(len(nearby))], nearby, limits) is None


def test_idea_combined_from_several_ideas_is_a_recombination() -> None:
    carla = IdeaId("carla")
    resemblance = find_resemblance_to_neighbours(
        ME,
        list("abc"),
        [make_nearby_viewpoints((ANNA, 1)), make_nearby_viewpoints((BERT, 1)), make_nearby_viewpoints((carla, 1))],
        LIMITS,
    )
    assert resemblance is not None
    assert resemblance.kind == "recombination"
    assert resemblance.share == 1
    assert resemblance.closest_share == pytest.approx(1 / 3)
    assert {pair.other for pair in resemblance.pairs} == {ANNA, BERT, carla}


@pytest.mark.parametrize(
    ("texts", "neighbours"),
    [
        (
            ["a", "b", "c"],
            [
                make_nearby_viewpoints((ANNA, 0.99)),
                make_nearby_viewpoints((ANNA, 0.89)),
                make_nearby_viewpoints((BERT, 0.89)),
            ],
        ),
        (["a"], [make_nearby_viewpoints((ME, 1.0))]),
        (["a"], [[]]),
        ([], []),
    ],
    ids=["too little is taken", "only itself is near", "nothing is near", "it says nothing"],
)
def test_idea_without_sufficient_overlap_has_no_resemblance(
    texts: Sequence[str], neighbours: Sequence[Sequence[NearbyViewpoint]]
) -> None:
    assert find_resemblance_to_neighbours(ME, texts, neighbours, LIMITS) is None


def make_idea_viewpoints(idea: str, vectors: NDArray[np.float32]) -> IdeaViewpoints:
    return IdeaViewpoints(IdeaId(idea), [f"{idea} {number}" for number in range(len(vectors))], vectors)


@pytest.fixture
def index() -> NeighbourIndex:
    return FaissNeighbours(64)


def test_only_duplicates_within_a_batch_are_matched(index: NeighbourIndex) -> None:
    graph = make_random_graph(ideas=20)
    batch = [make_idea_viewpoints(f"i{row}", graph.vectors[graph.idea_of == row]) for row in range(20)]
    batch.append(make_idea_viewpoints("again", batch[4].vectors))
    resemblances = {
        resemblance.idea: resemblance for resemblance in find_resemblances_within_batch(batch, index, LIMITS)
    }
    assert set(resemblances) == {"i4", "again"}
    assert (resemblances[IdeaId("again")].closest, resemblances[IdeaId("i4")].closest) == ("i4", "again")
    assert [(pair.text, pair.other_text) for pair in resemblances[IdeaId("again")].pairs] == [
        (f"again {number}", f"i4 {number}") for number in range(6)
    ]


def test_graph_comparison_ignores_disallowed_rows(index: NeighbourIndex) -> None:
    graph = make_random_graph(ideas=20)
    index.add(graph.vectors)
    owners, texts = [graph.ideas[row] for row in graph.idea_of], [f"text {row}" for row in range(len(graph.vectors))]
    copy = make_idea_viewpoints("copy", graph.vectors[graph.idea_of == 3])
    resemblance = find_resemblance_in_graph(copy, index, owners, texts, LIMITS)
    assert resemblance is not None
    assert (resemblance.kind, resemblance.closest, resemblance.share) == ("copy", graph.ideas[3], 1)
    assert find_resemblance_in_graph(copy, index, owners, texts, LIMITS, allowed=graph.idea_of != 3) is None


@pytest.mark.parametrize("method", PLAGIARISM_KINDS)
def test_fabricated_ideas_keep_their_size_and_are_reproducible_by_seed(method: PlagiarismKind) -> None:
    graph = make_random_graph()
    plagiarised_ideas = plagiarise(graph, method, 10, seed=3)
    assert len({item.source for item in plagiarised_ideas}) == 10
    for item, repeated in zip(plagiarised_ideas, plagiarise(graph, method, 10, seed=3), strict=True):
        own_count = int((graph.idea_of[item.nodes] == item.source).sum())
        assert graph.labels[item.source] > 0, "well-judged ideas are worth plagiarising"
        assert (len(item.nodes), own_count) == (6, 6 if method == "copy" else 4)
        assert (item.nodes == repeated.nodes).all()
    assert any(
        (item.nodes != other_seed.nodes).any()
        for item, other_seed in zip(plagiarised_ideas, plagiarise(graph, method, 10, 4), strict=True)
    )


def test_neighbour_swaps_take_the_nearest_viewpoint_of_another_idea() -> None:
    graph = make_random_graph()
    plagiarised = plagiarise(graph, "neighbour swaps", 1, seed=0)[0]
    own_nodes = np.flatnonzero(graph.idea_of == plagiarised.source)
    for before, after in zip(own_nodes, plagiarised.nodes, strict=True):
        if before != after:
            cosines = graph.vectors @ graph.vectors[before]
            assert (
                after
                == np.flatnonzero(graph.idea_of != plagiarised.source)[
                    cosines[graph.idea_of != plagiarised.source].argmax()
                ]
            )


def test_requesting_more_plagiarised_ideas_than_available_is_rejected() -> None:
    with pytest.raises(InputError, match="30 ideas can be plagiarised, but 31 were requested"):
        plagiarise(make_random_graph(ideas=60), "copy", 31, seed=0)


def test_negatives_get_worst_label_and_add_no_edges_into_the_graph() -> None:
    graph = make_separable_graph()
    larger = add_plagiarised_ideas(graph, 7, seed=1)
    before, added = len(graph.ideas), len(graph.vectors)
    assert (len(larger.ideas), larger.labels[before:].tolist()) == (before + 7, [0] * 7)
    assert (larger.dates[before:] == UNKNOWN).all()
    assert larger.targets[len(graph.targets) :].min() >= added, "no edge leads from a negative into the graph"
    is_inter_edge = larger.kinds[len(graph.kinds) :] == INTER
    assert larger.weights[len(graph.weights) :][is_inter_edge].max() == pytest.approx(1)
    assert add_plagiarised_ideas(graph, 0, seed=1) is graph


def test_negatives_are_dated_after_their_sources() -> None:
    graph = make_random_graph()
    graph.dates[:] = np.arange(len(graph.dates)) * 100
    larger = add_plagiarised_ideas(graph, 6, seed=1)
    assert larger.dates[len(graph.ideas) :].min() > 100
