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

KNOWN = load_planning_constants()
_NEAR = 0.2
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


def wanted(papers: int, **fields: object) -> CapacityRequest:
    return CapacityRequest.model_validate(
        {"papers": papers, "model": "all-MiniLM-L6-v2", "profile": "cpu-2", "full_texts": 0.0} | fields
    )


def values(figures: tuple[PlannedFigure, ...]) -> dict[str, float]:
    return {figure.name: figure.value for figure in figures}


def measured(manifest: Manifest) -> Mapping[str, int]:
    files = [*manifest.files, *(file for segment in manifest.segments for file in segment.files)]
    return {name: sum(file.bytes for file in files if file.path.startswith(paths)) for name, paths in _FILES.items()}


@pytest.mark.skipif(not REAL_PAPERS.is_file(), reason="the real papers are not beside the clone")
@pytest.mark.parametrize("papers", [2_000, pytest.param(6_000, marks=pytest.mark.slow)])
async def test_planned_sizes_match_files_of_real_papers(tmp_path: Path, papers: int) -> None:
    with gzip.open(REAL_PAPERS) as lines:
        (source := tmp_path / "papers.jsonl").write_bytes(b"".join(islice(lines, papers)))
    manifest = (await build_corpus([source], tmp_path / "corpus", InventedEmbedder())).manifest
    planned = values(plan_capacity(wanted(papers), KNOWN, references=0).disk)
    for name, size in measured(manifest).items():
        assert planned[name] == pytest.approx(size, rel=_NEAR), name
    assert planned["One version"] == pytest.approx(manifest.bytes, rel=_NEAR)


@given(st.integers(1, 10**9), st.sampled_from(sorted(KNOWN.models)), st.floats(0, 1))
def test_capacity_totals_do_not_decrease_with_more_papers(papers: int, model: str, full_texts: float) -> None:
    one, more = (
        plan_capacity(wanted(count, model=model, full_texts=full_texts), KNOWN) for count in (papers, 2 * papers)
    )
    assert all(figure.value >= 0 for part in one for figure in part)
    for part, name in (("disk", "One version"), ("building", "Total"), ("nightly", "Total")):
        assert values(getattr(more, part))[name] >= values(getattr(one, part))[name]


def test_figures_match_their_formulas() -> None:
    found = plan_capacity(wanted(200_000_000, machines=4, usd_per_hour=2.0, texts_per_second=1000), KNOWN)
    building = {figure.name: figure for figure in found.building}
    assert building["Embedding"].value == pytest.approx(200_000_000 / 1000 / 3600 / 4)
    assert building["Embedding"].formula == "200,000,000 texts × 0.001 s / 4 machines"
    assert building["Price"].value == pytest.approx(building["Total"].value * 4 * 2)
    assert values(found.disk)["Vectors, half precision"] == 200_000_000 * 384 * 2
    assert values(found.memory)["On GPUs, if used for search"] == 200_000_000 * 384 * 2
    assert all(figure.formula for part in found for figure in part)


def test_build_memory_grows_with_papers_per_process() -> None:
    one, larger = (values(plan_capacity(wanted(count), KNOWN).memory)["To build"] for count in (10**8, 2 * 10**8))
    assert larger - one == pytest.approx(10**8 * (80 + 32))
    shards = values(plan_capacity(wanted(2 * 10**8, shards=16), KNOWN).memory)
    assert shards["To build one of 16 shards"] < 4.5e9 < larger / 5
    assert shards["To distribute papers to shards"] == pytest.approx(1.1e9 + 2 * 10**8 * 10)


def test_unknown_model_or_profile_is_rejected_by_name() -> None:
    with pytest.raises(InputError, match="Unknown embedding model 'word2vec'") as caught:
        plan_capacity(wanted(1000, model="word2vec"), KNOWN)
    assert "all-MiniLM-L6-v2" in caught.value.hint
    with pytest.raises(InputError, match="Unknown profile 'abacus'"):
        plan_capacity(wanted(1000, profile="abacus"), KNOWN)


def test_constants_name_sources_and_profiles_have_rates_for_all_models() -> None:
    assert all(constant.source and constant.unit for constant in KNOWN.constants.values())
    for profile in KNOWN.profiles.values():
        assert profile.rates.keys() == KNOWN.models.keys()
        assert all(rate.source for rate in profile.rates.values())
