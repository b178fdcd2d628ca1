"""The benchmark of the support check: what is known of claims, and the figures made of what was said."""

import math

import pytest

from benchmarks.quality.claim_support.items import SETS, KnownClaim, read_claims
from benchmarks.quality.claim_support.measures import count_by_group, measure_label
from benchmarks.records import DATA

pytestmark = pytest.mark.skipif(not (DATA / "claims").is_dir(), reason="the data folder is not beside the clone")


def _claim(number: int, gold: str) -> KnownClaim:
    return KnownClaim(str(number), gold, gold, f"document {number % 3}", "a", "b", "", is_tuning=False)  # type: ignore[arg-type]


CLAIMS = [_claim(number, gold) for number, gold in enumerate(["supports", "supports", "not", "contradicts", "flawed"])]


@pytest.mark.parametrize("name", SETS)
def test_tuning_and_test_claims_share_no_documents(name: str) -> None:
    claims = read_claims(name)
    assert len({claim.id for claim in claims}) == len(claims)
    tuning = {claim.document for claim in claims if claim.is_tuning}
    test_documents = {claim.document for claim in claims if not claim.is_tuning}
    assert tuning
    assert test_documents
    assert not tuning & test_documents


@pytest.mark.parametrize("name", SETS)
def test_claims_use_the_prompt_citation_format(name: str) -> None:
    claims = read_claims(name)
    assert all("[this source]" in claim.claim and "cit|" not in claim.claim for claim in claims)
    assert all(claim.passage.strip() for claim in claims)


def test_outcome_precision_recall_and_f1_have_confidence_intervals() -> None:
    outcomes = ["supports", None, "supports", "contradicts", "not"]
    measured = measure_label(CLAIMS, outcomes, "supports", rounds=200, seed=0)  # type: ignore[arg-type]
    assert (measured.known, measured.predicted) == (2, 2)
    assert (measured.precision.value, measured.recall.value, measured.f1.value) == (0.5, 0.5, 0.5)
    assert 0 <= measured.f1.low <= measured.f1.value <= measured.f1.high <= 1


def test_claims_with_unknown_flaw_are_excluded_from_specific_flaw_scores() -> None:
    measured = measure_label(CLAIMS, [None, None, "not", None, "not"], "not", rounds=50, seed=0)
    assert (measured.predicted, measured.precision.value, measured.recall.value) == (1, 1.0, 1.0)


def test_outcome_never_predicted_has_no_precision() -> None:
    measured = measure_label(CLAIMS, ["supports"] * 5, "contradicts", rounds=50, seed=0)
    assert math.isnan(measured.precision.value)
    assert measured.recall.value == 0


def test_outcome_counts_are_grouped_by_claim_group() -> None:
    counts = count_by_group(CLAIMS, ["supports", None, "not", "not", "partly"])
    assert counts["supports"] == {"supports": 1, None: 1}
