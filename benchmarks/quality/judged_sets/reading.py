"""Reads the judged sets of the data folder into one format; missing sets are skipped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import bootstrap
from assayer.text.code_links import remove_code_links
from benchmarks.quality.figures import Figure, build_figure
from benchmarks.quality.judged_sets.judged import JudgedItem, JudgedSet, scored, spearman
from benchmarks.records import read_records

ACCEPTED = "Should this submission be accepted at a selective machine learning conference?"
_RATED = "How good is this research proposal, if it were carried out?"
_STAGES = (
    ("overall, as a proposal", "scores", "overall", "proposal"),
    ("overall, after it was carried out", "executed_scores", "overall", "executed"),
    ("effectiveness, after it was carried out", "executed_scores", "effectiveness", "executed"),
)


def judged_sets(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    readers: Mapping[str, Callable[[Path, int], Iterator[JudgedSet]]] = {
        "innoeval/points": _innoeval,
        "ai_researcher/ideas": _ai_researcher,
        "iclr_years/submissions": _iclr_years,
        "reviews/disapere": _disapere,
        "reviews/substanreview": _substanreview,
        "reviews/rottenreviews": _rottenreviews,
        "flaws/perturbations": _perturbations,
    }
    for name, reader in readers.items():
        if (folder / f"{name}.jsonl.gz").is_file():
            yield from reader(folder, rounds)


def _innoeval(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(record["paper_id"], remove_code_links(_titled(record)), float(record["decision"] != "Reject"))
        for record in read_records(folder / "innoeval" / "points.jsonl.gz")
    ]
    caveat = "Labels are doubtful: 31 % of the papers that InnoEval's groups hold too have another label there."
    yield JudgedSet("innoeval", "points", ACCEPTED, items, decided=True, proposals=True, caveat=caveat)


def _ai_researcher(folder: Path, rounds: int) -> Iterator[JudgedSet]:
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
        people = one_against_others(
            ("ai_researcher", part), [scores_by_idea[item.id] for item in items if item.id in scores_by_idea], rounds
        )
        caveat = "Reviewers hardly agree on proposals; a perfect judge could not agree with their mean by much either."
        yield JudgedSet("ai_researcher", part, _RATED, items, False, True, (people,), caveat)


def one_against_others(part_of_set: tuple[str, str], ratings: Sequence[Sequence[float]], rounds: int) -> Figure:
    """Compute Spearman's correlation of each reviewer with the mean of the idea's other reviewers; ideas are
    resampled."""
    pairs = [
        [(item, (sum(idea_ratings) - item) / (len(idea_ratings) - 1)) for item in idea_ratings]
        if len(idea_ratings) > 1
        else []
        for idea_ratings in ratings
    ]

    def agreement(rows: NDArray[np.int16], _: NDArray[np.float64]) -> float:
        drawn = np.array([pair for row in rows for pair in pairs[row]])
        return spearman(drawn[:, 1], drawn[:, 0]) if len(drawn) else float("nan")

    estimate = bootstrap(agreement, np.arange(len(pairs)).astype(np.int16), [np.zeros((len(pairs), 1))], rounds, 0)
    reviewed_count = sum(map(bool, pairs))
    return build_figure(
        part_of_set, "Spearman", ("one reviewer against the others", "people"), estimate, reviewed_count, 0, 0.0
    )


def _iclr_years(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    """Read the years after 2021; scorers learn from the years before."""
    records = [
        record for record in read_records(folder / "iclr_years" / "submissions.jsonl.gz") if record["year"] > 2021
    ]
    years = sorted({record["year"] for record in records})
    parts = {
        f"{years[0]}–{years[-1]}": records,
        **{str(y): [record for record in records if record["year"] == y] for y in years},
    }
    for part, part_records in parts.items():
        items = [
            JudgedItem(item["id"], remove_code_links(_titled(item)), float(item["accepted"])) for item in part_records
        ]
        year_set = JudgedSet("iclr_years", part, ACCEPTED, items, decided=True, proposals=True)
        generator = np.random.default_rng(0)
        one_rating = np.array(
            [generator.choice(item["ratings"]) if item["ratings"] else np.nan for item in part_records]
        )
        means = np.array([np.mean(item["ratings"]) if item["ratings"] else np.nan for item in part_records])
        people = (
            *scored(year_set, ("one reviewer's rating, drawn by lot", "people"), one_rating, rounds),
            *scored(
                year_set, ("mean rating of the reviewers", "people"), means, rounds, "the decision was made from it"
            ),
        )
        caveat = (
            "Sentences that link to code are left out: accepted papers got them afterwards. What is learned in folds "
            "is learned from the same years, which is impossible for new proposals. A language model may have "
            "read these papers and their decisions: compare years before and after it was trained."
        )
        yield year_set._replace(people=people, caveat=caveat)


def _disapere(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(
            f"{review['id']}-{place}",
            said["text"],
            float(said["answer"] == "accepted"),
            review["forum"],
            _about(review),
        )
        for review in read_records(folder / "reviews" / "disapere.jsonl.gz")
        for place, said in enumerate(review["sentences"])
        if said.get("answer") in {"accepted", "rejected"}
    ]
    question = "Is this criticism, from a review of a paper, one that the authors will accept?"
    caveat = "Accepted by the authors in their answer: a proxy of being right, biased to politeness."
    yield JudgedSet("reviews", "criticisms that authors accepted", question, items, True, False, caveat=caveat)


def _substanreview(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(
            f"{review['id']}-{place}",
            " ".join(point["claim"]),
            float(bool(point["evidence"])),
            review["id"],
            review["text"],
        )
        for review in read_records(folder / "reviews" / "substanreview.jsonl.gz")
        for place, point in enumerate(review["points"])
        if point["polarity"] != "pos"
    ]
    question = "Does the review from which this criticism is taken give evidence for it?"
    yield JudgedSet("reviews", "criticisms with evidence", question, items, decided=True, proposals=False)


def _rottenreviews(folder: Path, rounds: int) -> Iterator[JudgedSet]:
    items = [
        JudgedItem(record["id"], record["review"], float(record["judged"]["overall_quality"]), record["title"])
        for record in read_records(folder / "reviews" / "rottenreviews.jsonl.gz")
        if record["judged"].get("overall_quality") is not None
    ]
    caveat = "One person judged each review, and length alone tells most of what that person said."
    yield JudgedSet(
        "reviews", "quality of reviews", "How good is this review of a paper?", items, False, False, caveat=caveat
    )


def _perturbations(folder: Path, rounds: int) -> Iterator[JudgedSet]:
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


def _about(review: Mapping[str, Any]) -> str:
    return f"Of the paper: {review['title']}\n\n{review.get('abstract') or ''}".strip()


def _titled(record: Mapping[str, Any]) -> str:
    return f"{record['title'].strip()}\n\n{record['abstract'].strip()}"
