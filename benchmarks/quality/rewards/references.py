"""Real papers with which ideas are compared, each with its nearest neighbour, some with a rewording by the authors."""

import ast
import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from assayer.methods.debate.idea_shape import measure_shared_wording
from assayer.models.reward import RewardItem
from benchmarks.records import DATA, read_records

_MIN_ABSTRACT_CHARS = 500
"""Fewest characters of an abstract that describes a method."""
_SAME_WORK_SHARE = 0.2
"""Share of common six-word sequences from which two abstracts count as versions of the same text."""
_MIN_SUMMARY_WORDS = 15
"""Shorter summaries name only the topic, not a method."""


class Reference(NamedTuple):
    """Reference with which an idea is compared."""

    title: str
    question: str
    """Made from the paper's keywords, so that it reveals no more of the method than they do."""
    abstract: str
    neighbour: str
    """Abstract of the most similar other paper in the corpus, by TF-IDF."""
    rewording: str = ""
    """The work in other words by its authors; empty if there are none."""

    def build_item(self, idea: str) -> RewardItem:
        return RewardItem(question=self.question, idea=idea, abstract=self.abstract)


def draw_references(count: int, seed: int) -> list[Reference]:
    """Return papers of the corpus, drawn with the seed."""
    usable_records = [
        record
        for record in _read_corpus()
        if len(record["abstract"]) >= _MIN_ABSTRACT_CHARS and len(_select_topics(record["keywords"])) > 1
    ]
    return _pair_with_neighbours(random.Random(seed).sample(usable_records, min(count, len(usable_records))))


def read_reworded(count: int) -> list[Reference]:
    """Return the first papers whose abstracts on arXiv and in the proceedings share few word sequences."""
    corpus = {record["id"]: record for record in _read_corpus()}
    records_by_title: dict[str, Mapping[str, Any]] = {}
    for paper in read_records(DATA / "citations_ml" / "papers.jsonl.gz"):
        if len(records_by_title) == count:
            break
        corpus_record = corpus.get(paper["corpus_id"] or "")
        if (
            corpus_record
            and paper["abstract"]
            and max(measure_shared_wording(paper["abstract"], corpus_record["abstract"])) < _SAME_WORK_SHARE
        ):
            records_by_title.setdefault(corpus_record["id"], {**corpus_record, "rewording": paper["abstract"]})
    return _pair_with_neighbours(list(records_by_title.values()))


def read_summarised(count: int) -> list[Reference]:
    """Return the first InnoEval papers whose authors summarise their work in a sentence."""
    records_by_title: dict[str, Mapping[str, Any]] = {}
    for group in read_records(DATA / "innoeval" / "groups.jsonl.gz"):
        for paper in (group["query"], *(match["paper"] for match in group["matches"].values())):
            summary = paper.get("TLDR") or ""
            if len(summary.split()) >= _MIN_SUMMARY_WORDS:
                keywords = _split_keywords(paper.get("keywords", ""))
                records_by_title.setdefault(paper["title"], {**paper, "keywords": keywords, "rewording": summary})
    return _pair_with_neighbours(list(records_by_title.values())[:count])


def _pair_with_neighbours(papers: Sequence[Mapping[str, Any]]) -> list[Reference]:
    vectoriser, matrix = _fit_vectors()
    references: list[Reference] = []
    for paper in papers:
        similarities = (matrix @ vectoriser.transform([paper["abstract"]]).T).toarray()[:, 0]
        candidates = (_read_corpus()[row] for row in np.argsort(-similarities)[:10])
        neighbour = next(record for record in candidates if not _is_same_work(record, paper))
        references.append(
            Reference(
                title=paper["title"],
                question=_format_question(_select_topics(paper["keywords"])),
                abstract=paper["abstract"],
                neighbour=neighbour["abstract"],
                rewording=paper.get("rewording", ""),
            )
        )
    return references


def _is_same_work(record: Mapping[str, Any], other_record: Mapping[str, Any]) -> bool:
    """Return whether two papers are the same work; a corpus of many venues contains some papers twice."""
    shared = measure_shared_wording(record["abstract"], other_record["abstract"])
    return record["title"].casefold() == other_record["title"].casefold() or max(shared) >= _SAME_WORK_SHARE


def _select_topics(keywords: Sequence[str]) -> list[str]:
    """Return at most three topics, without the area with which some venues prefix them."""
    topic_names = (keyword.rpartition(":")[2].strip() for keyword in keywords)
    return list(dict.fromkeys(name for name in topic_names if name and name.casefold() != "general"))[:3]


def _format_question(topics: Sequence[str]) -> str:
    *first, last = topics or ("machine learning",)
    return f"Which new method would advance {', '.join(first)}{' and ' * bool(first)}{last}?"


def _split_keywords(keywords: str | Sequence[str]) -> list[str]:
    """Return keywords as a list. InnoEval has lists or their Python notation, some with several keywords per entry."""
    entries = ast.literal_eval(keywords or "[]") if isinstance(keywords, str) else keywords
    return [part for entry in entries for part in str(entry).split(";")]


@cache
def _fit_vectors() -> tuple[TfidfVectorizer, Any]:
    vectoriser = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    return vectoriser, vectoriser.fit_transform([record["abstract"] for record in _read_corpus()])


@cache
def _read_corpus() -> tuple[Mapping[str, Any], ...]:
    return tuple(row for row in read_records(DATA / "papers" / "papers.jsonl.gz") if row["abstract"])
