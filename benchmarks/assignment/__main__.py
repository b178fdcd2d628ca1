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

from benchmarks.measuring import format_heading
from benchmarks.records import DATA, read_records
from orchestrator.reviewing.assigning import plan_assignments
from orchestrator.reviewing.expertise import ExpertiseMatch, KnownExpertise, compute_assignment_values

Text = tuple[str, str]
"""Title and abstract."""
_MIN_PAPERS, _MAX_PAPERS = 4, 20
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
    print(f"{format_heading()}\n", flush=True)
    papers = list(read_records(DATA / "papers" / "papers.jsonl.gz"))
    for line in _measure_speed(papers, options) if options.part == "speed" else _measure_quality(papers, options):
        print(line, flush=True)


def make_task(papers: Sequence[dict[str, Any]], count: int, seed: int) -> Task:
    """Draw authors. Nobody but the author drawn has written a proposal."""
    by_author = defaultdict[str, list[dict[str, Any]]](list)
    for paper in sorted(papers, key=lambda paper: (paper["publication_date"], paper["id"])):
        for author in set(paper["authors"]):
            by_author[author].append(paper)
    names = sorted(
        name
        for name, author_papers in by_author.items()
        if _MIN_PAPERS <= len(author_papers) <= _MAX_PAPERS and " " in name
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
    known_texts = [
        [_get_text(paper) for paper in by_author[name] if paper["id"] not in newest] for name in drawn_authors
    ]
    return Task([_get_text(by_author[name][-1]) for name in drawn_authors], known_texts)


def _get_text(paper: dict[str, Any]) -> Text:
    return paper["title"], paper["abstract"]


def _compare_by_tfidf(task: Task) -> NDArray[Any]:
    return ExpertiseMatch(task.proposals, [KnownExpertise(papers=papers) for papers in task.reviewers]).similarity


def _draw_similarity(task: Task) -> NDArray[Any]:
    return np.random.default_rng(0).random((len(task.proposals), len(task.reviewers)))


def _compare_by_bm25(task: Task) -> NDArray[Any]:
    import bm25s

    texts = [". ".join(text) for papers in task.reviewers for text in papers]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    queries = bm25s.tokenize(
        [". ".join(text) for text in task.proposals], stopwords="en", return_ids=False, show_progress=False
    )
    return _average_best(np.stack([index.get_scores(query) for query in queries]), task)


def _compare_by_embedding(task: Task) -> NDArray[Any]:
    import asyncio

    from workers.embedding.embedder import create_local_embedder
    from workers.embedding.settings import EmbedderSettings

    async def embed_texts(texts: Sequence[Text]) -> NDArray[Any]:
        return await embedder.embed([". ".join(text) for text in texts], "passage")

    async def embed_all() -> tuple[NDArray[Any], NDArray[Any]]:
        return await embed_texts(task.proposals), await embed_texts(
            [text for reviewer_papers in task.reviewers for text in reviewer_papers]
        )

    embedder = create_local_embedder(EmbedderSettings())
    try:
        proposals, papers = asyncio.run(embed_all())
    finally:
        embedder.close()
    return _average_best(proposals @ papers.T, task)


def _average_best(similarity: NDArray[Any], task: Task, best_count: int = 3) -> NDArray[Any]:
    """Return the mean similarity of each proposal to the nearest papers of each reviewer."""
    ends = np.cumsum([len(papers) for papers in task.reviewers])[:-1]
    parts = np.split(similarity, ends, axis=1)
    return np.column_stack([-np.sort(-part, axis=1)[:, :best_count].mean(axis=1) for part in parts])


def _measure_quality(papers: Sequence[dict[str, Any]], options: argparse.Namespace) -> Iterator[str]:
    methods: dict[str, Callable[[Task], NDArray[Any]]] = {
        "random": _draw_similarity,
        "TF-IDF, all papers as one text (used)": _compare_by_tfidf,
        "BM25, mean of the 3 best papers": _compare_by_bm25,
        **({"packaged embedding model, mean of the 3 best papers": _compare_by_embedding} if options.embedding else {}),
    }
    tasks = [make_task(papers, options.reviewers, seed) for seed in range(options.seeds)]
    mean_papers = np.mean([len(reviewer_papers) for task in tasks for reviewer_papers in task.reviewers])
    yield f"{options.seeds} draws of {options.reviewers} reviewers with {mean_papers:.1f} known papers on average."
    yield "| method | reciprocal rank | first | among 10 | assigned, 3 reviewers each |"
    yield "|---|---|---|---|---|"
    for name, method in methods.items():
        means = np.mean([_compute_measures(method(task)) for task in tasks], axis=0)
        yield f"| {name} | {means[0]:.3f} | {' | '.join(f'{share:.1%}' for share in means[1:])} |"


def _compute_measures(similarity: NDArray[Any]) -> tuple[float, float, float, float]:
    """Return the mean reciprocal rank of the author, the shares of authors ranked first and among the first ten, and
    the share of authors to whom the proposal is assigned."""
    own_similarity = np.diag(similarity)
    ranks = (similarity > own_similarity[:, None]).sum(axis=1) + 1
    ids = [str(place) for place in range(len(own_similarity))]
    values = compute_assignment_values(similarity.astype(np.float32), {})
    plan = plan_assignments(dict.fromkeys(ids, 3), ids, set(), {}, None, values)
    assigned_count = sum(proposal == reviewer for proposal, reviewer in plan.pairs)
    return (
        float((1 / ranks).mean()),
        float((ranks == 1).mean()),
        float((ranks <= 10).mean()),
        assigned_count / len(own_similarity),
    )


def _measure_speed(papers: Sequence[dict[str, Any]], options: argparse.Namespace) -> Iterator[str]:
    """Proposals have four abstracts each, and reviewers 20 papers."""
    rng = random.Random(0)
    texts = [_get_text(paper) for paper in papers]
    proposals = [
        (title, "\n".join([text, *(rng.choice(texts)[1] for _ in range(3))]))
        for title, text in rng.sample(texts, options.proposals)
    ]
    starts = rng.sample(range(len(texts) - 20), options.reviewers)
    reviewers = [KnownExpertise(papers=texts[first : first + 20]) for first in starts]
    stages: list[tuple[str, float]] = [("", time.process_time())]
    match = ExpertiseMatch(proposals, reviewers)
    stages.append(("comparing", time.process_time()))
    values = compute_assignment_values(match.similarity, {})
    proposal_ids, reviewer_ids = [f"p{n}" for n in range(len(proposals))], [f"r{n}" for n in range(len(reviewers))]
    plan = plan_assignments(dict.fromkeys(proposal_ids, 3), reviewer_ids, set(), {}, None, values)
    stages.append(("assigning", time.process_time()))
    for proposal, reviewer in plan.pairs:
        match.explain_pair(int(proposal[1:]), int(reviewer[1:]))
    stages.append(("reasons in words", time.process_time()))
    even_plan = plan_assignments(dict.fromkeys(proposal_ids, 3), reviewer_ids, set(), {})
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
