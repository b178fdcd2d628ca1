"""`python -m benchmarks.assignment quality|speed`: assignment of reviewers by expertise.

quality: authors of several papers act as reviewers; all their papers but the newest are known, and the newest ones are
the proposals. How high does the author of a proposal rank among all reviewers, and is it assigned to the author? speed:
seconds and memory for a large call, made from the same papers.
"""

import argparse
import random
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import heading
from benchmarks.records import DATA, read_records
from orchestrator.reviewing.assigning import plan_assignments
from orchestrator.reviewing.expertise import ExpertiseMatch, KnownExpertise, compute_assignment_values

Text = tuple[str, str]
"""Title and abstract."""
_FEWEST, _MOST = 4, 20
"""Papers of an author who acts as a reviewer."""


class Task(NamedTuple):
    """Proposals, and the papers of as many reviewers: the author of each proposal has its place."""

    proposals: list[Text]
    reviewers: list[list[Text]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("quality", "speed"))
    parser.add_argument("--reviewers", type=int, default=200)
    parser.add_argument("--proposals", type=int, default=5_000, help="for speed")
    parser.add_argument("--seeds", type=int, default=5, help="draws of authors, for quality")
    parser.add_argument("--embedding", action="store_true", help="also compare with the packaged embedding model")
    options = parser.parse_args()
    print(f"{heading()}\n", flush=True)
    papers = list(read_records(DATA / "papers" / "papers.jsonl.gz"))
    for line in _speed(papers, options) if options.part == "speed" else _quality(papers, options):
        print(line, flush=True)


def make_task(papers: Sequence[dict[str, Any]], count: int, seed: int) -> Task:
    """Draw authors. Nobody but the author drawn has written a proposal."""
    by_author = defaultdict[str, list[dict[str, Any]]](list)
    for paper in sorted(papers, key=lambda paper: (paper["publication_date"], paper["id"])):
        for author in set(paper["authors"]):
            by_author[author].append(paper)
    names = sorted(
        name for name, author_papers in by_author.items() if _FEWEST <= len(author_papers) <= _MOST and " " in name
    )
    random.Random(seed).shuffle(names)
    drawn_authors: list[str] = []
    excluded_authors: set[str] = set()
    for name in names:
        authors = set(by_author[name][-1]["authors"])
        if len(drawn_authors) < count and name not in excluded_authors and authors.isdisjoint(drawn_authors):
            drawn_authors.append(name)
            excluded_authors |= authors
    newest = {by_author[name][-1]["id"] for name in drawn_authors}
    known_texts = [[_text(paper) for paper in by_author[name] if paper["id"] not in newest] for name in drawn_authors]
    return Task([_text(by_author[name][-1]) for name in drawn_authors], known_texts)


def _text(paper: dict[str, Any]) -> Text:
    return paper["title"], paper["abstract"]


def _tfidf_profile(task: Task) -> NDArray[Any]:
    return ExpertiseMatch(task.proposals, [KnownExpertise(papers=papers) for papers in task.reviewers]).similarity


def _random(task: Task) -> NDArray[Any]:
    return np.random.default_rng(0).random((len(task.proposals), len(task.reviewers)))


def _bm25_best(task: Task) -> NDArray[Any]:
    import bm25s

    texts = [". ".join(text) for papers in task.reviewers for text in papers]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    queries = bm25s.tokenize(
        [". ".join(text) for text in task.proposals], stopwords="en", return_ids=False, show_progress=False
    )
    return _mean_of_best(np.stack([index.get_scores(query) for query in queries]), task)


def _embedding_best(task: Task) -> NDArray[Any]:
    import asyncio

    from workers.embedding.embedder import local_embedder
    from workers.embedding.settings import EmbedderSettings

    async def vectors(texts: Sequence[Text]) -> NDArray[Any]:
        return await embedder.embed([". ".join(text) for text in texts], "passage")

    async def both() -> tuple[NDArray[Any], NDArray[Any]]:
        return await vectors(task.proposals), await vectors(
            [text for reviewer_papers in task.reviewers for text in reviewer_papers]
        )

    embedder = local_embedder(EmbedderSettings())
    try:
        proposals, papers = asyncio.run(both())
    finally:
        embedder.close()
    return _mean_of_best(proposals @ papers.T, task)


def _mean_of_best(similarity: NDArray[Any], task: Task, best: int = 3) -> NDArray[Any]:
    """Return the mean similarity of each proposal to the nearest papers of each reviewer."""
    ends = np.cumsum([len(papers) for papers in task.reviewers])[:-1]
    parts = np.split(similarity, ends, axis=1)
    return np.column_stack([-np.sort(-part, axis=1)[:, :best].mean(axis=1) for part in parts])


def _quality(papers: Sequence[dict[str, Any]], options: argparse.Namespace) -> Iterator[str]:
    methods: dict[str, Callable[[Task], NDArray[Any]]] = {
        "random": _random,
        "TF-IDF, all papers as one text (used)": _tfidf_profile,
        "BM25, mean of the 3 best papers": _bm25_best,
        **({"packaged embedding model, mean of the 3 best papers": _embedding_best} if options.embedding else {}),
    }
    tasks = [make_task(papers, options.reviewers, seed) for seed in range(options.seeds)]
    mean_papers = np.mean([len(reviewer_papers) for task in tasks for reviewer_papers in task.reviewers])
    yield f"{options.seeds} draws of {options.reviewers} reviewers with {mean_papers:.1f} known papers on average."
    yield "| method | reciprocal rank | first | among 10 | assigned, 3 reviewers each |"
    yield "|---|---|---|---|---|"
    for name, method in methods.items():
        means = np.mean([_measures(method(task)) for task in tasks], axis=0)
        yield f"| {name} | {means[0]:.3f} | {' | '.join(f'{share:.1%}' for share in means[1:])} |"


def _measures(similarity: NDArray[Any]) -> tuple[float, float, float, float]:
    """Return the mean reciprocal rank of the author, the shares of authors ranked first and among the first ten, and
    the share of authors to whom the proposal is assigned."""
    own_similarity = np.diag(similarity)
    ranks = (similarity > own_similarity[:, None]).sum(axis=1) + 1
    names = [str(place) for place in range(len(own_similarity))]
    values = compute_assignment_values(similarity.astype(np.float32), {})
    plan = plan_assignments(dict.fromkeys(names, 3), names, set(), {}, None, values)
    assigned_count = sum(proposal == reviewer for proposal, reviewer in plan.pairs)
    return (
        float((1 / ranks).mean()),
        float((ranks == 1).mean()),
        float((ranks <= 10).mean()),
        assigned_count / len(own_similarity),
    )


def _speed(papers: Sequence[dict[str, Any]], options: argparse.Namespace) -> Iterator[str]:
    """Proposals have four abstracts each, and reviewers 20 papers."""
    draw = random.Random(0)
    texts = [_text(paper) for paper in papers]
    proposals = [
        (title, "\n".join([text, *(draw.choice(texts)[1] for _ in range(3))]))
        for title, text in draw.sample(texts, options.proposals)
    ]
    start = draw.sample(range(len(texts) - 20), options.reviewers)
    reviewers = [KnownExpertise(papers=texts[first : first + 20]) for first in start]
    stages: list[tuple[str, float]] = [("", time.process_time())]
    match = ExpertiseMatch(proposals, reviewers)
    stages.append(("comparing", time.process_time()))
    values = compute_assignment_values(match.similarity, {})
    names, people = [f"p{n}" for n in range(len(proposals))], [f"r{n}" for n in range(len(reviewers))]
    plan = plan_assignments(dict.fromkeys(names, 3), people, set(), {}, None, values)
    stages.append(("assigning", time.process_time()))
    for proposal, reviewer in plan.pairs:
        match.explain_pair(int(proposal[1:]), int(reviewer[1:]))
    stages.append(("reasons in words", time.process_time()))
    even_plan = plan_assignments(dict.fromkeys(names, 3), people, set(), {})
    stages.append(("even load instead", time.process_time()))
    for (_, before), (name, after) in pairwise(stages):
        yield f"{name}: {after - before:.1f} s of processor time"
    loads = Counter(reviewer for _, reviewer in plan.pairs)
    missing = sum(plan.missing_reviewers.values())
    yield f"{len(plan.pairs)} assignments, {missing} missing; loads {min(loads.values())} to "
    yield f"{max(loads.values())}; by even load {len(even_plan.pairs)}"
    yield f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB"


if __name__ == "__main__":
    main()
