"""Value of a single number per text against people's judgements, and the page that shows it."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assayer.text.code_links import remove_code_links
from benchmarks.quality.figures import Figure, Kind
from benchmarks.quality.judged_sets.contenders import sample_items
from benchmarks.quality.judged_sets.coverage import build_coverage_figures
from benchmarks.quality.judged_sets.judged import (
    CUTS,
    JudgedItem,
    JudgedSet,
    build_loss_measure,
    build_scorer_figures,
    compute_spearman,
)
from benchmarks.quality.judged_sets.ordered import build_margins, read_altered_answers
from benchmarks.quality.judged_sets.page import build_page, write_page
from benchmarks.quality.judged_sets.part import build_set_figures
from benchmarks.quality.judged_sets.reading import compare_reviewers
from benchmarks.quality.judged_sets.simple import LONGER, WORDS, compute_simple_values, split_into_folds
from benchmarks.quality.outcome_file import Spending
from benchmarks.quality.rubrics import Rubric
from benchmarks.quality.spending import estimate_cost, sum_parts

NAN = float("nan")


def make_judged_set(texts: Sequence[str], decided: Sequence[float], proposals: bool = True) -> JudgedSet:
    items = [
        JudgedItem(f"i{n}", *text_and_decision) for n, text_and_decision in enumerate(zip(texts, decided, strict=True))
    ]
    return JudgedSet("iclr_years", "2022", "Good?", items, has_decisions=True, has_proposals=proposals)


def make_plans(count: int = 40) -> JudgedSet:
    """Return plans of which every second is chosen; chosen plans are about bees and not longer."""
    topics = ("maps of towns drawn in ink", "bees in flower strips gain")
    return make_judged_set([f"{topics[n % 2]} {n:02}" for n in range(count)], [float(n % 2) for n in range(count)])


@pytest.mark.parametrize(
    ("values", "lost_share"),
    [([4, 3, 2, 1], 0.0), ([1, 2, 3, 4], 1.0), ([1, 1, 1, 1], 0.5), ([NAN, 3, 2, 1], 0.5), ([4, 2, 2, 2], 1 / 3)],
)
def test_unread_accepted_items_count_as_lost_and_ties_share_places(values: list[float], lost_share: float) -> None:
    chosen = np.array([1, 1, 0, 0], np.int16)
    assert build_loss_measure(0.5)(chosen, np.array(values)[:, None]) == pytest.approx(lost_share)


def test_unanswered_item_loses_all_comparisons_and_is_read_last() -> None:
    judged_set = make_judged_set(["a"] * 4, [1.0, 1.0, 0.0, 0.0])
    measures = {
        item.measure: item
        for item in build_scorer_figures(judged_set, ("a judge", "ours"), np.array([NAN, 4.0, 2.0, 1.0]), 20)
    }
    assert measures["AUROC"].value == 0.5, "of four comparisons the two of the unanswered one are lost"
    assert measures["AUROC"].unanswered == 1
    assert measures["chosen that are lost, best 50% read"].value == 0.5
    assert len(measures) == 1 + len(CUTS)


def test_graded_set_accepts_top_third_and_missing_values_rank_neutrally() -> None:
    items = [JudgedItem(str(n), "text", float(n)) for n in range(6)]
    judged_set = JudgedSet("ai_researcher", "all", "Good?", items, has_decisions=False, has_proposals=True)
    assert judged_set.is_chosen.tolist() == [False] * 4 + [True] * 2
    assert compute_spearman(judged_set.truth, np.arange(6.0)) == pytest.approx(1.0)
    assert compute_spearman(judged_set.truth, np.full(6, NAN)) == 0.0


def test_items_from_same_source_stay_in_the_same_fold() -> None:
    items = [JudgedItem(str(n), f"text {n}", float(n % 2), f"paper {n // 4}") for n in range(40)]
    judged_set = JudgedSet("reviews", "all", "Good?", items, has_decisions=True, has_proposals=False)
    parts = split_into_folds(judged_set)
    assert sorted(np.concatenate(parts).tolist()) == list(range(40))
    owners = [{items[row].split_group for row in part} for part in parts]
    assert sum(map(len, owners)) == len(set().union(*owners))


def test_word_baseline_separates_classes_and_majority_baseline_is_constant() -> None:
    values = dict(compute_simple_values(make_plans(), None))
    chosen = make_plans().is_chosen
    assert values[WORDS][chosen].min() > values[WORDS][~chosen].max()
    assert values[LONGER].shape == (40,)
    assert np.ptp(values["always-majority"]) == 0


def test_word_baseline_on_random_labels_scores_at_chance() -> None:
    generator = np.random.default_rng(3)
    texts = [" ".join(generator.choice([f"w{n}" for n in range(60)], 8)) for _ in range(300)]
    judged_set = make_judged_set(texts, (generator.random(300) < 0.3).astype(float).tolist())
    (auroc, *_) = build_scorer_figures(
        judged_set, (WORDS, "simple"), dict(compute_simple_values(judged_set, None))[WORDS], 50
    )
    assert auroc.value == pytest.approx(0.5, abs=0.08)


def test_code_release_sentences_and_links_are_removed() -> None:
    text = "A title\n\nWe map towns. The code will be released soon. Maps fade. See https://github.com/a/b."
    assert remove_code_links(text) == "A title\n\nWe map towns. Maps fade."
    assert remove_code_links("We map towns by code. Maps fade.") == "We map towns by code. Maps fade."


def test_human_baseline_compares_each_reviewer_with_mean_of_others() -> None:
    equal_reviewers = compare_reviewers(("a set", "all"), [[n, n, n] for n in range(1, 9)], 20)
    assert equal_reviewers.value == pytest.approx(1.0)
    assert equal_reviewers.kind == "people"
    single_reviewers = compare_reviewers(("a set", "all"), [[3.0], [4.0]], 20)
    assert (single_reviewers.value, single_reviewers.items) == (None, 0)
    assert single_reviewers.note


def test_unjudged_rubrics_count_as_uncovered_and_are_reported() -> None:
    rubrics = [Rubric("ai_1", n, "A statement.", "soundness", "weakness", "") for n in range(4)]
    covered = {("ai_1", 0): 5, ("ai_1", 1): 4, ("ai_1", 2): 1}
    coverage_figures, weaknesses = build_coverage_figures(rubrics, covered, ("a report", "ours"), 20)
    assert (coverage_figures.value, coverage_figures.unanswered, coverage_figures.items) == (0.5, 1, 4)
    assert weaknesses.part.endswith("weakness")


def test_pair_scorers_are_compared_with_length_and_word_baselines() -> None:
    scores_by_method = {
        "the longer text": np.array([0.0, 0.0, 1.0, 0.0]),
        "TF-IDF + logistic regression": np.array([1.0, 1.0, 1.0, 0.0]),
        "another": np.array([1.0, 1.0, 1.0, 1.0]),
        "asked about two": np.array([1.0, 1.0]),
    }
    margins = {
        (item.scorer, item.measure): item.value
        for item in build_margins(("innoeval", "pairs, easy"), "named", scores_by_method, 20)
    }
    assert margins == {
        ("TF-IDF + logistic regression", f"named above {LONGER}"): 0.5,
        ("another", f"named above {LONGER}"): 0.75,
        ("the longer text", f"named above {WORDS}"): -0.5,
        ("another", f"named above {WORDS}"): 0.25,
    }
    margins_without_words = list(
        build_margins(("a", "b"), "named", {"another": scores_by_method["another"]}, 20, {LONGER: np.zeros(4)})
    )
    assert [(item.scorer, item.value) for item in margins_without_words] == [("another", 1.0)]


def build_evaluation_page(simulated: bool) -> tuple[list[str], list[Figure]]:
    judged_set = make_plans()
    values: dict[tuple[str, Kind], NDArray[np.float64]] = {}
    for name, simple_values in compute_simple_values(judged_set, None):
        values[name, "simple"] = simple_values
    figures = list(build_set_figures(judged_set, values, [], 50))
    figures = [figure.model_copy(update={"simulated": simulated}) for figure in figures]
    return list(
        build_page(figures, {"language models": "none was given"}, {"iclr_years": "Read with care."}, "2026")
    ), figures


def test_page_reports_missing_models_and_sets_where_length_is_unbeaten(tmp_path: Path) -> None:
    lines, figures = build_evaluation_page(simulated=False)
    text = "\n".join(lines)
    assert "- language models: none was given" in text
    assert f"- iclr_years, 2022: length: {WORDS}; TF-IDF: **nothing beats it**" in text
    assert "SIMULATED" not in text
    write_page(tmp_path, lines, figures)
    assert (tmp_path / "all.md").read_text("utf-8").startswith("# All judged sets")
    assert (tmp_path / "all.json").read_text("utf-8").count('"measure"') == len(figures)


def test_simulated_results_are_labelled_on_every_line() -> None:
    lines, _ = build_evaluation_page(simulated=True)
    rows = [line for line in lines if line.startswith("| 2022") or "iclr_years, 2022" in line]
    assert len(rows) == 4
    assert all("SIMULATED" in line for line in rows)


def test_a_sample_does_not_depend_on_the_order_of_the_items() -> None:
    judged_set = make_plans()
    reversed_set = judged_set._replace(items=judged_set.items[::-1])
    assert sample_items([judged_set], 5)[0].items == sample_items([reversed_set], 5)[0].items


def test_total_cost_sums_parts_and_is_unknown_if_any_price_is() -> None:
    unpriced_cost = estimate_cost(Spending(calls=2, prompt_tokens=100, completion_tokens=10, usd=None), 3, [], None)
    plan = sum_parts(
        [("opinions", unpriced_cost), ("opinions", unpriced_cost), ("titles", unpriced_cost._replace(items=1))]
    )
    assert (plan.parts["opinions"].items, plan.cost.calls) == (6, 18)
    assert plan.cost.usd is None
    assert not plan.confirm(1_000.0, yes=False)
    assert plan.confirm(0.0, yes=True)
    assert len(list(plan.lines)) == 3


def test_bounded_sample_of_altered_answers_keeps_each_with_its_original(tmp_path: Path) -> None:
    (tmp_path / "flaws").mkdir()
    records = [{"id": f"q{n}", "question": "Why?", "correct": f"c{n}", "altered": f"a{n}"} for n in range(9)]
    records.append(records[0] | {"altered": "a0, again"})  # the same answer, altered differently
    with gzip.open(tmp_path / "flaws" / "refact.jsonl.gz", "wt") as file:
        file.writelines(f"{json.dumps(record)}\n" for record in records)
    assert len({item.id for item in read_altered_answers(tmp_path).items}) == 19
    texts = [item.text for item in read_altered_answers(tmp_path, 3).items]
    assert [text[0] for text in texts] == ["c", "a"] * 3
    assert [text[1:2] for text in texts[0::2]] == [text[1:2] for text in texts[1::2]]
    assert {item.text for item in read_altered_answers(tmp_path, 2).items} < {*texts}
