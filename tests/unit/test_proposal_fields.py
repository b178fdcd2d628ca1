"""Fields of proposals by their own words, and how well the corpus covers each."""

from hypothesis import given
from hypothesis import strategies as st

from assayer.models import FitLevel
from assayer.text.frequent_words import find_frequent_words
from orchestrator.console.proposal_fields import cluster_proposals, count_coverage_by_field, find_runs_of_field
from orchestrator.store.call_series import WordSeries

REEFS = ("coral", "reef", "larva", "ocean", "tide", "plankton", "salinity")
QUBITS = ("qubit", "photon", "cavity", "gate", "laser", "entanglement", "spin")
SLAG = ("slag", "furnace", "copper", "electrolysis", "leaching", "ore", "kiln")


def make_proposals(proposals_per_field: int) -> list[tuple[str, ...]]:
    """Return proposals of three fields, each with five words out of seven."""
    return [
        tuple(topic[(start + step * 2) % 7] for step in range(5))
        for topic in (REEFS, QUBITS, SLAG)
        for start in range(proposals_per_field)
    ]


def test_proposals_sharing_words_form_a_field_named_after_them() -> None:
    clusters = cluster_proposals(make_proposals(10))
    assert len(clusters.names) == 3
    for start, topic in ((0, REEFS), (10, QUBITS), (20, SLAG)):
        fields = set(clusters.field_indexes[start : start + 10])
        assert len(fields) == 1
        place = fields.pop()
        assert place is not None
        assert set(clusters.names[place].split(", ")) <= set(topic)


def test_no_field_is_formed_from_too_few_proposals_or_without_shared_words() -> None:
    assert cluster_proposals([]) == ((), ())
    assert cluster_proposals(make_proposals(1)) == ((), (None,) * 3)
    assert cluster_proposals([(f"word{n}", f"term{n}") for n in range(40)]).names == ()
    clusters = cluster_proposals([*make_proposals(10), ("nothing", "shared"), ()])
    assert clusters.field_indexes[-2:] == (None, None)


@given(st.lists(st.lists(st.sampled_from([*REEFS, *QUBITS, *SLAG, "data"]), max_size=6, unique=True), max_size=60))
def test_proposals_join_at_most_a_single_field_and_fields_sort_by_size(words: list[list[str]]) -> None:
    clusters = cluster_proposals(words)
    assert len(clusters.field_indexes) == len(words)
    assert len(clusters.names) <= 12
    sizes = [clusters.field_indexes.count(place) for place in range(len(clusters.names))]
    assert sizes == sorted(sizes, reverse=True)
    assert all(sizes)
    assert cluster_proposals(words) == clusters


def test_coverage_counts_each_report_once_and_field_lookup_matches() -> None:
    levels: tuple[tuple[FitLevel | None, int], ...] = (
        ("good", 9),
        ("partial", 1),
        ("poor", 10),
        (None, 10),
        ("poor", 1),
    )
    fits = [level for level, times in levels for _ in range(times)]
    series = WordSeries([f"run{n}" for n in range(31)], fits, [*make_proposals(10), ()])
    covered = {
        frozenset(item.name.split(", ")) <= set(QUBITS): item for item in count_coverage_by_field(series) if item.name
    }
    qubits = covered[True]
    assert (qubits.proposals, qubits.good, qubits.partial, qubits.poor, qubits.unknown) == (10, 0, 0, 10, 0)
    assert find_runs_of_field(series, qubits.name) == [f"run{n}" for n in range(10, 20)]
    assert find_runs_of_field(series, "no such field") == []
    last = count_coverage_by_field(series)[-1]
    assert (last.name, last.proposals, last.poor) == ("", 1, 1)
    assert sum(item.proposals for item in count_coverage_by_field(series)) == 31


def test_frequent_words_are_singular_content_words() -> None:
    text = "Corals bleach. A coral that bleaches dies, as the gas of algae rises; the algae, the process."
    assert find_frequent_words("Corals and algae", text) == ("algae", "coral")
    assert find_frequent_words("", "") == ()
    assert find_frequent_words("", "stress stress 2026 2026 1st 1st") == ("stress",)
