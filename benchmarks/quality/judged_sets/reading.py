"""Reads the judged sets of the data folder into one format; missing sets are skipped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import bootstrap
from assayer.text.code_links import remove_code_links
from benchmarks.quality.figures import Figure, build_figure
from benchmarks.quality.judged_sets.judged import JudgedItem, JudgedSet, build_scorer_figures, compute_spearman
from benchmarks.records import read_records

ACCEPTED = "Should this submission be accepted at a selective machine learning conference?"
_RATED = "How good is this research proposal, if it were carried out?"
_STAGES = (
    ("overall, as a proposal", "scores", "overall", "proposal"),
    ("overall, after it was carried out", "executed_scores", "overall", "executed"),
    ("effectiveness, after it was carried out", "executed_scores", "effectiveness", "executed"),
)


def read_judged_sets(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    readers: Mapping[str, Callable[[Path, int], Iterator[JudgedSet]]] = {
        "innoeval/points": _read_innoeval,
        "ai_researcher/ideas": _read_ai_researcher,
        "iclr_years/submissions": _read_iclr_years,
        "reviews/disapere": _read_disapere,
        "reviews/substanreview": _read_substanreview,
        "reviews/rottenreviews": _read_rottenreviews,
        "flaws/perturbations": _read_perturbations,
    }
    for name, reader in readers.items():
        if (folder / f"{name}.jsonl.gz").is_file():
            yield from reader(folder, rounds)


def _read_innoeval(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(record["paper_id"], remove_code_links(_join_text(record)), float(record["decision"] != "Reject"))
        for record in read_records(folder / "innoeval" / "points.jsonl.gz")
    ]
    caveat = "Labels are doubtful: 31 % of the papers that InnoEval's groups hold too have another label there."
    yield JudgedSet("innoeval", "points", ACCEPTED, items, has_decisions=True, has_proposals=True, caveat=caveat)


def _read_ai_researcher(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    ideas = list(read_records(folder / "ai_researcher" / "ideas.jsonl.gz"))
    reviews = list(read_records(folder / "ai_researcher" / "reviews.jsonl.gz"))
    for part, field, score, stage in _STAGES:
        items = [
            JudgedItem(idea["id"], idea["text"], idea[field][score], idea["topic"])
            for idea in ideas
            if (idea.get(field) or {}).get(score) is not None
        ]
        scores_by_idea: dict[str, list[float]] = {}
        for review in reviews:
            if review["stage"] == stage and review["scores"].get(score) is not None:
                scores_by_idea.setdefault(review["idea"], []).append(review["scores"][score])
        people = compare_reviewers(
            ("ai_researcher", part), [scores_by_idea[item.id] for item in items if item.id in scores_by_idea], rounds
        )
        caveat = "Reviewers hardly agree on proposals; a perfect judge could not agree with their mean by much either."
        yield JudgedSet("ai_researcher", part, _RATED, items, False, True, (people,), caveat)


def compare_reviewers(part_of_set: tuple[str, str], ratings: Sequence[Sequence[float]], rounds: int) -> Figure:
    """Compute Spearman's correlation of each reviewer with the mean of the idea's other reviewers; ideas are
    resampled."""
    pairs = [
        [(rating, (sum(idea_ratings) - rating) / (len(idea_ratings) - 1)) for rating in idea_ratings]
        if len(idea_ratings) > 1
        else []
        for idea_ratings in ratings
    ]

    def measure_agreement(rows: NDArray[np.int16], _: NDArray[np.float64]) -> float:
        sample = np.array([pair for row in rows for pair in pairs[row]])
        return compute_spearman(sample[:, 1], sample[:, 0]) if len(sample) else float("nan")

    estimate = bootstrap(
        measure_agreement, np.arange(len(pairs)).astype(np.int16), [np.zeros((len(pairs), 1))], rounds, 0
    )
    reviewed_count = sum(map(bool, pairs))
    return build_figure(
        part_of_set, "Spearman", ("one reviewer against the others", "people"), estimate, reviewed_count, 0, 0.0
    )


def _read_iclr_years(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    """Read the years after 2021; scorers learn from the years before."""
    records = [
        record for record in read_records(folder / "iclr_years" / "submissions.jsonl.gz") if record["year"] > 2021
    ]
    years = sorted({record["year"] for record in records})
    parts = {
        f"{years[0]}–{years[-1]}": records,
        **{str(year): [record for record in records if record["year"] == year] for year in years},
    }
    for part, part_records in parts.items():
        items = [
            JudgedItem(record["id"], remove_code_links(_join_text(record)), float(record["accepted"]))
            for record in part_records
        ]
        year_set = JudgedSet("iclr_years", part, ACCEPTED, items, has_decisions=True, has_proposals=True)
        generator = np.random.default_rng(0)
        drawn_ratings = np.array(
            [generator.choice(record["ratings"]) if record["ratings"] else np.nan for record in part_records]
        )
        means = np.array([np.mean(record["ratings"]) if record["ratings"] else np.nan for record in part_records])
        people = (
            *build_scorer_figures(year_set, ("one reviewer's rating, drawn by lot", "people"), drawn_ratings, rounds),
            *build_scorer_figures(
                year_set, ("mean rating of the reviewers", "people"), means, rounds, "the decision was made from it"
            ),
        )
        caveat = (
            "Sentences that link to code are left out: accepted papers got them afterwards. What is learned in folds "
            "is learned from the same years, which is impossible for new proposals. A language model may have "
            "read these papers and their decisions: compare years before and after it was trained."
        )
        yield year_set._replace(people=people, caveat=caveat)


def _read_disapere(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(
            f"{review['id']}-{number}",
            sentence["text"],
            float(sentence["answer"] == "accepted"),
            review["forum"],
            _describe_paper(review),
        )
        for review in read_records(folder / "reviews" / "disapere.jsonl.gz")
        for number, sentence in enumerate(review["sentences"])
        if sentence.get("answer") in {"accepted", "rejected"}
    ]
    question = "Is this criticism, from a review of a paper, one that the authors will accept?"
    caveat = "Accepted by the authors in their answer: a proxy of being right, biased to politeness."
    yield JudgedSet("reviews", "criticisms that authors accepted", question, items, True, False, caveat=caveat)


def _read_substanreview(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(
            f"{review['id']}-{number}",
            " ".join(point["claim"]),
            float(bool(point["evidence"])),
            review["id"],
            review["text"],
        )
        for review in read_records(folder / "reviews" / "substanreview.jsonl.gz")
        for number, point in enumerate(review["points"])
        if point["polarity"] != "pos"
    ]
    question = "Does the review from which this criticism is taken give evidence for it?"
    yield JudgedSet("reviews", "criticisms with evidence", question, items, has_decisions=True, has_proposals=False)


def _read_rottenreviews(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(record["id"], record["review"], float(record["judged"]["overall_quality"]), record["title"])
        for record in read_records(folder / "reviews" / "rottenreviews.jsonl.gz")
        if record["judged"].get("overall_quality") is not None
    ]
    caveat = "One person judged each review, and length alone tells most of what that person said."
    yield JudgedSet(
        "reviews", "quality of reviews", "How good is this review of a paper?", items, False, False, caveat=caveat
    )


def _read_perturbations(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(
            record["id"],
            f"{record['original']} became {record['perturbed']}. The paper says: {record['contradicting_quote']}",
            float(record["label"] == "substantive"),
            record["paper"],
        )
        for record in read_records(folder / "flaws" / "perturbations.jsonl.gz")
    ]
    question = "A formula of a paper was changed. Does what the paper says contradict it in substance, not as a typo?"
    yield JudgedSet(
        "flaws", "changed formulas", question, items, True, False, caveat="Of 7 papers, labels by one group."
    )


def _describe_paper(review: Mapping[str, Any]) -> str:
    return f"Of the paper: {review['title']}\n\n{review.get('abstract') or ''}".strip()


def _join_text(record: Mapping[str, Any]) -> str:
    return f"{record['title'].strip()}\n\n{record['abstract'].strip()}"
