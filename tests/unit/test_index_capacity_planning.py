"""The planner against corpora that are there: its formulas, and what it says of what it does not know."""

import gzip
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from benchmarks.index.invented import InventedEmbedder
from index import Manifest, build_corpus
from index.capacity_planning import CapacityRequest, PlannedFigure, load_planning_constants, plan_capacity
from tests.corpus_papers import REAL_PAPERS

CONSTANTS = load_planning_constants()
_TOLERANCE = 0.2
_FILES = {
    "Records": ("papers.arrow",),
    "Ids, dates, citations": (
        "ids.npy",
        "id-rows.npy",
        "days.npy",
        "cites-starts.npy",
        "cites.npy",
        "cited.npy",
        "citing.npy",
    ),
    "Names and claims": ("contents/",),
    "Vectors, half precision": ("papers/vectors.npy", "passages/vectors.npy"),
    "Words": ("words/papers/", "words/passages/"),
}


def make_request(papers: int, **fields: object) -> CapacityRequest:
    return CapacityRequest.model_validate(
        {"papers": papers, "model": "all-MiniLM-L6-v2", "profile": "cpu-2", "full_texts": 0.0} | fields
    )


def index_by_name(figures: tuple[PlannedFigure, ...]) -> dict[str, float]:
    return {figure.name: figure.value for figure in figures}


def measure_bytes(manifest: Manifest) -> Mapping[str, int]:
    files = [*manifest.files, *(file for segment in manifest.segments for file in segment.files)]
    return {name: sum(file.bytes for file in files if file.path.startswith(paths)) for name, paths in _FILES.items()}


@pytest.mark.skipif(not REAL_PAPERS.is_file(), reason="the real papers are not beside the clone")
@pytest.mark.parametrize("papers", [2_000, pytest.param(6_000, marks=pytest.mark.slow)])
async def test_planned_sizes_match_files_of_real_papers(tmp_path: Path, papers: int) -> None:
    with gzip.open(REAL_PAPERS) as lines:
        (source := tmp_path / "papers.jsonl").write_bytes(b"".join(islice(lines, papers)))
    manifest = (await build_corpus([source], tmp_path / "corpus", InventedEmbedder())).manifest
    planned = index_by_name(plan_capacity(make_request(papers), CONSTANTS, references=0).disk)
    for name, size in measure_bytes(manifest).items():
        assert planned[name] == pytest.approx(size, rel=_TOLERANCE), name
    assert planned["One version"] == pytest.approx(manifest.bytes, rel=_TOLERANCE)


@given(st.integers(1, 10**9), st.sampled_from(sorted(CONSTANTS.models)), st.floats(0, 1))
def test_capacity_totals_do_not_decrease_with_more_papers(papers: int, model: str, full_texts: float) -> None:
    smaller_plan, larger_plan = (
        plan_capacity(make_request(count, model=model, full_texts=full_texts), CONSTANTS)
        for count in (papers, 2 * papers)
    )
    assert all(figure.value >= 0 for part in smaller_plan for figure in part)
    for part, name in (("disk", "One version"), ("building", "Total"), ("nightly", "Total")):
        assert index_by_name(getattr(larger_plan, part))[name] >= index_by_name(getattr(smaller_plan, part))[name]


def test_figures_match_their_formulas() -> None:
    capacity_plan = plan_capacity(
        make_request(200_000_000, machines=4, usd_per_hour=2.0, texts_per_second=1000), CONSTANTS
    )
    building = {figure.name: figure for figure in capacity_plan.building}
    assert building["Embedding"].value == pytest.approx(200_000_000 / 1000 / 3600 / 4)
    assert building["Embedding"].formula == "200,000,000 texts × 0.001 s / 4 machines"
    assert building["Price"].value == pytest.approx(building["Total"].value * 4 * 2)
    assert index_by_name(capacity_plan.disk)["Vectors, half precision"] == 200_000_000 * 384 * 2
    assert index_by_name(capacity_plan.memory)["On GPUs, if used for search"] == 200_000_000 * 384 * 2
    assert all(figure.formula for part in capacity_plan for figure in part)


def test_build_memory_grows_with_papers_per_process() -> None:
    smaller, larger = (
        index_by_name(plan_capacity(make_request(count), CONSTANTS).memory)["To build"] for count in (10**8, 2 * 10**8)
    )
    assert larger - smaller == pytest.approx(10**8 * (80 + 32))
    shards = index_by_name(plan_capacity(make_request(2 * 10**8, shards=16), CONSTANTS).memory)
    assert shards["To build one of 16 shards"] < 4.5e9 < larger / 5
    assert shards["To distribute papers to shards"] == pytest.approx(1.1e9 + 2 * 10**8 * 10)


def test_unknown_model_or_profile_is_rejected_by_name() -> None:
    with pytest.raises(InputError, match="Unknown embedding model 'word2vec'") as caught:
        plan_capacity(make_request(1000, model="word2vec"), CONSTANTS)
    assert "all-MiniLM-L6-v2" in caught.value.hint
    with pytest.raises(InputError, match="Unknown profile 'abacus'"):
        plan_capacity(make_request(1000, profile="abacus"), CONSTANTS)


def test_constants_name_sources_and_profiles_have_rates_for_all_models() -> None:
    assert all(constant.source and constant.unit for constant in CONSTANTS.constants.values())
    for profile in CONSTANTS.profiles.values():
        assert profile.rates.keys() == CONSTANTS.models.keys()
        assert all(rate.source for rate in profile.rates.values())
