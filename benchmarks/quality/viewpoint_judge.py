"""How often the judge without a language model is right: `python -m benchmarks.quality.viewpoint_judge`.

Ideas that match are other wordings of a paper: its abstract on arXiv where that shares few runs of words with the one
of the proceedings, and its one-sentence summary. Ideas that do not are the same, beside the abstracts of the three
papers nearest to them by TF-IDF. Each rule's threshold is the lowest at which 97 of 100 matches of the fitted half are
right; what is printed is of the other half.
"""

import ast
import asyncio
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from assayer.methods.debate.guards import stopped_by
from assayer.methods.debate.viewpoint_judge import nearness
from assayer.methods.grapheval.viewpoints.splitter import split_viewpoints
from assayer.models.reward import RewardItem
from assayer.text.content_words import content_words
from benchmarks.quality.grapheval.data import DATA
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

Floats = NDArray[np.float64]
_NEIGHBOURS = 3
_RUN = 8
"""Words in a row that two versions of one paper share, and two papers do not."""
_SAME_WORK = 0.3
_RIGHT = 0.97
_MET = 0.65
"""Cosine at which a viewpoint counts as met, in the rule that counts them."""


class JudgedPair(NamedTuple):
    kind: str
    fitted: bool
    idea: str
    abstract: str
    matches: bool
    tfidf: float


def main() -> None:
    print(__doc__)
    pairs = list(_pairs())
    matches = np.array([one.matches for one in pairs])
    fitted = np.array([one.fitted for one in pairs])
    kinds = np.array([one.kind for one in pairs])
    print(f"{len(pairs)} pairs, {matches.sum()} match; half fitted: {fitted.sum()}\n")
    for rule, values in asyncio.run(_measured(pairs)).items():
        threshold = _threshold(values[fitted], matches[fitted])
        for kind in (*sorted(set(kinds)), "all"):
            here = ~fitted & ((kinds == kind) | (kind == "all"))
            said = here & (values >= threshold)
            right, all_matches = int((said & matches).sum()), int((here & matches).sum())
            precision, recall = _interval(right, int(said.sum())), _interval(right, all_matches)
            print(f"{rule:32} {threshold:.3f} {kind:9} right {precision}, found {recall}")


def _pairs() -> Iterator[JudgedPair]:
    versions = list(_reworded()) + list(_summaries())
    pool = list(dict.fromkeys([*(one["abstract"] for one in _rows("papers/papers.jsonl.gz") if one.get("abstract"))]))
    pool = list(dict.fromkeys([*pool, *(abstract for _, _, _, abstract in versions)]))
    vectors = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    matrix = vectors.fit_transform(pool)
    places = {text: place for place, text in enumerate(pool)}
    for kind, title, idea, abstract in versions:
        if stopped_by(RewardItem(question=title, idea=idea, abstract=abstract)) is not None:
            continue
        fitted = int(hashlib.sha256(title.encode()).hexdigest(), 16) % 2 == 0
        near = (matrix @ vectors.transform([idea]).T).toarray()[:, 0]
        yield JudgedPair(kind, fitted, idea, abstract, True, near[places[abstract]])
        own = _runs(abstract, _RUN)
        others = (pool[place] for place in np.argsort(-near)[:20])
        strange = [one for one in others if len(_runs(one, _RUN) & own) < _SAME_WORK * max(1, len(own))]
        for other in strange[:_NEIGHBOURS]:
            yield JudgedPair(kind, fitted, idea, other, False, near[places[other]])


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _reworded() -> Iterator[tuple[str, str, str, str]]:
    known = {one["id"]: one.get("abstract") or "" for one in _rows("papers/papers.jsonl.gz")}
    for paper in _rows("citations_ml/papers.jsonl.gz"):
        abstract = known.get(paper["corpus_id"] or "", "")
        if abstract and paper["abstract"]:
            yield "reworded", paper["title"], paper["abstract"], abstract


def _summaries() -> Iterator[tuple[str, str, str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    for name in ("pairs_easy", "pairs_diff", "groups"):
        for paper in _papers_within(_rows(f"innoeval/{name}.jsonl.gz")):
            if paper.get("tldr"):
                found.setdefault(paper["abstract"], paper)
    for paper in found.values():
        if len(paper["tldr"].split()) >= _RUN:
            yield "summary", paper["title"], paper["tldr"], paper["abstract"]


def _papers_within(value: Any) -> Iterator[Mapping[str, str]]:
    """The files keep papers as Python literals, at any depth; names are in lower case here."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            return
    if isinstance(value, dict):
        fields = {name.lower(): one for name, one in value.items() if isinstance(one, str)}
        if "abstract" in fields and "title" in fields:
            yield fields
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _papers_within(one)


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


async def _measured(pairs: list[JudgedPair]) -> Mapping[str, Floats]:
    embedder = SentenceTransformerEmbedder(EmbedderSettings())
    cosines, shares = [], []
    for one in pairs:
        theirs = [it.text for it in split_viewpoints(one.abstract, 40)] or [one.abstract]
        own = [one.idea, *(it.text for it in split_viewpoints(one.idea, 40))]
        vectors = await embedder.embed([one.abstract, *theirs, *own], "passage")
        cosines.append(float(vectors[0] @ vectors[1 + len(theirs)]))
        best = (vectors[1 : 1 + len(theirs)] @ vectors[1 + len(theirs) :].T).max(axis=1)
        shares.append(float((best >= _MET).mean()))
    near = [await nearness(one.idea, one.abstract, embedder) for one in pairs]
    embedder.close()
    return {
        "nearness (the judge)": np.array(near),
        "share of viewpoints met": np.array(shares),
        "cosine of the whole texts": np.array(cosines),
        "TF-IDF of the whole texts": np.array([one.tfidf for one in pairs]),
        "share of the idea's words": np.array([_shared_words(one) for one in pairs]),
        "length of the idea": np.array([float(len(one.idea)) for one in pairs]),
    }


def _shared_words(pair: JudgedPair) -> float:
    own = content_words(pair.idea)
    return len(own & content_words(pair.abstract)) / max(1, len(own))


def _threshold(values: Floats, matches: NDArray[np.bool_]) -> float:
    """Above every value where no threshold is right so often."""
    fit = [value for value in np.unique(values) if matches[values >= value].mean() >= _RIGHT]
    return float(min(fit, default=values.max() + 1))


def _interval(hits: int, of: int) -> str:
    """With Wilson's 95 % interval."""
    if not of:
        return "0 of 0"
    share, z = hits / of, 1.96
    centre = (share + z * z / (2 * of)) / (1 + z * z / of)
    spread = z / (1 + z * z / of) * float(np.sqrt(share * (1 - share) / of + z * z / (4 * of * of)))
    return f"{hits} of {of} ({share:.2f} [{centre - spread:.2f}, {centre + spread:.2f}])"


if __name__ == "__main__":
    main()
