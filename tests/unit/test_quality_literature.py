"""Coverage of expert rubrics, on small fixtures computed by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from assayer.llm import Task
from assayer.models import Absent
from assayer.text.sentences import sentences
from benchmarks.quality.report_text import extract_judgement, split_text
from benchmarks.quality.rubrics import (
    COVERAGE,
    CoverageAnswer,
    CoverageQuestion,
    Rubric,
    compute_nearest_cosines,
    list_sentences,
    read_rubrics,
)
from benchmarks.quality.scholarideas import measure_similarity, select_highest
from tests.unit.reports_fixture import make_full_report


def make_rubric(idea: str, number: int, statement: str, kind: str = "weakness") -> Rubric:
    return Rubric(idea, number, statement, "soundness", kind, "major")


def test_rubric_reader_skips_blank_lines_and_allows_missing_fields(tmp_path: Path) -> None:
    folder = tmp_path / "eco_1"
    folder.mkdir()
    rubric_fields = {"statement": "Too few plots.", "type": "weakness", "axis": "soundness", "severity": None}
    (folder / "eco_1.jsonl").write_text(f"\n{json.dumps(rubric_fields)}\n\n   \n", "utf-8")
    assert read_rubrics(tmp_path) == [Rubric("eco_1", 0, "Too few plots.", "soundness", "weakness", "")]
    assert read_rubrics(tmp_path)[0].discipline == "eco"


def test_statement_similarity_is_nearest_sentence_or_zero_without_sentences() -> None:
    statements = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    sentence_vectors = np.array([[0.6, 0.8], [1.0, 0.0]], np.float32)
    assert compute_nearest_cosines(statements, sentence_vectors) == pytest.approx([1.0, 0.8])
    assert compute_nearest_cosines(statements, np.empty((0, 0), np.float32)).tolist() == [0.0, 0.0]


_VECTORS = {"plots": (1.0, 0.0), "birds": (0.0, 1.0), "both": (0.6, 0.8)}


def vectorise(texts: "list[str] | tuple[str, ...] | object") -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    assert isinstance(texts, list)
    return np.array([_VECTORS[text] for text in texts], np.float32)


def test_proxy_scores_own_report_another_report_and_idea_text() -> None:
    rubrics = [make_rubric("eco_1", 0, "plots"), make_rubric("eco_2", 0, "birds", "strength")]
    sentences_by_idea = {"eco_1": ["plots"], "eco_2": ["both"]}
    similarities = measure_similarity(rubrics, sentences_by_idea, {"eco_1": ["birds"], "eco_2": ["birds"]}, vectorise)
    assert {source: np.round(values, 3).tolist() for source, values in similarities.items()} == {
        "its report": [1.0, 0.8],
        "the report of another idea": [0.6, 0.0],
        "the idea itself": [0.0, 1.0],
    }


def test_rubric_score_is_maximum_over_parts_and_missing_if_unanswered() -> None:
    assert select_highest([{0: 1, 1: 5}, {0: 4, 1: 2}], [[0, 1], [0, 1]]) == {0: 4, 1: 5}
    assert select_highest([{0: 1, 1: 5}, None], [[0, 1], [0]]) == {1: 5}


def test_long_review_is_split_between_lines_without_loss() -> None:
    text = "one line\nanother line\nthe last"
    assert split_text(text, 100) == [text]
    assert split_text(text, 22) == ["one line\nanother line", "the last"]
    assert "".join(split_text("a" * 25, 10)) == "a" * 25
    assert split_text("", 10) == [""]


def test_judge_sees_all_report_statements_but_no_idea_or_provenance() -> None:
    report = make_full_report()
    text = extract_judgement(report)
    statements = [point.text for part in report.parts for assessment in part.assessments for point in assessment.points]
    assert report.plan_review is not None
    assert not isinstance(report.plan_review.flaws, Absent)
    statements += [flaw.text for flaw in report.plan_review.flaws] + [
        comparator.text for comparator in report.plan_review.comparators
    ]
    assert statements
    assert all(item in text for item in statements)
    assert report.idea.text not in text
    assert report.provenance.corpus_version not in text
    assert set(sentences(report.plan_review.flaws[0].text, min_words=4)) <= set(list_sentences(report))


def test_coverage_answer_must_judge_every_statement() -> None:
    question = CoverageQuestion(review="A review.", statements=("One.", "Two."))
    entry = {"label": "S1", "where": "", "score": 1}
    assert list(COVERAGE.check(question, CoverageAnswer.model_validate({"judgements": [entry]})))
    full_answer = CoverageAnswer.model_validate({"judgements": [entry, entry | {"label": "S2"}]})
    assert list(COVERAGE.check(question, full_answer)) == []


def test_coverage_prompt_fences_review_and_every_statement() -> None:
    task: Task[CoverageQuestion, CoverageAnswer] = COVERAGE
    _, question = task.messages(CoverageQuestion(review="The review.", statements=("One.", "Two.")))
    assert "[S2]\n<statement" in question.content
    assert "<review" in question.content
