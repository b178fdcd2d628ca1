"""One part left out by a setting, beside the whole."""

import numpy as np
import pytest
from pydantic import ValidationError

from benchmarks.quality.ablations import ABLATIONS, WHOLE, Ablation, compared_with_whole, graph_variants, with_changes
from cluster.settings import Settings
from tests.unit.grapheval_graphs import rows, separable


@pytest.mark.parametrize("ablation", ABLATIONS, ids=lambda one: f"{one.method}, {one.name}")
def test_an_ablation_changes_what_it_names_and_nothing_else(ablation: Ablation) -> None:
    settings = Settings()
    changed = with_changes(settings, ablation)
    before, after = (getattr(one, ablation.method).model_dump() for one in (settings, changed))
    for name, value in ablation.changes.items():
        outer, _, inner = name.partition(".")
        place = after[outer] if inner else after
        assert place[inner or outer] == value
        (before[outer] if inner else before)[inner or outer] = value
    assert before == after
    assert (ablation.name == WHOLE) == (changed == settings)


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValidationError):
        with_changes(Settings(), Ablation("innoeval", "without wings", {"wings": 0}))


def test_the_difference_to_the_whole_is_paired_and_silence_counts_nothing() -> None:
    told = {WHOLE: np.array([1.0, 0.0, 1.0, 1.0]), "without a part": np.array([1.0, 0.0, np.nan, 0.0])}
    lines = list(compared_with_whole(told, WHOLE, 50, simulated=True))
    assert lines[2].startswith(f"| SIMULATED: {WHOLE} | 4 | 0 | 0.750")
    assert "| SIMULATED: without a part | 4 | 1 | 0.250" in lines[3]
    assert "-0.500 [" in lines[3]


def test_every_variant_of_the_graph_scores_every_idea() -> None:
    graph, asked = separable(), rows(0, 1, 6)
    for name, scorer in graph_variants():
        assert scorer.score(graph.with_unknown(asked), asked).argmax(axis=1).tolist() == [0, 1, 0], name
