"""`python -m benchmarks.quality PART`: how good the verdicts are, beside what is simpler, and how sure one can be.

all           every judged set on one page: the program, simpler scorers, people against people
ablations     what parts of a method are worth: one left out by a setting, beside the whole
points        InnoEval's score of 98 papers against the decision on them
pairs         192 pairs of papers: which got the better decision
groups        88 groups of four papers, put in order
preferences   two folders of reports of the same ideas: which is better supported, more usable, deeper
scholarideas  what experts said of 48 ideas: how much a report says of it, and whether its references are right
support       claims beside passages: whether it is rightly said that the one bears out the other
search        what reports rest on: relevance density, topic coverage, diversity
citations     what authors cited, found again: searches in one step against walks along citations
references    the check of an idea's own references: real ones found, invented and wrong ones told
readings      papers that were found for two ideas, put in order without a model, beside what readers said of them
plans         what plans do not state, by wordings, beside a reader of 60 of them
scores        ratings of ICLR: SciCompanion, texts, what a search tells, what earlier years teach, beside the mean
rewards       ideas that should earn nothing, before guards and judges; debates of seats whose errors are known

Asks the language model of the settings. --simulate starts an endpoint that invents its answers: that shows that the way
is passable, and says nothing about quality. Without a model there are the baselines, and reports of methods that can do
without. What was measured is kept in --out: started again, a run does only the rest.
"""

import argparse
import datetime as dt
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from assayer.errors import AssayerError
from benchmarks.index.machine import machine
from benchmarks.quality.ablations import ablations
from benchmarks.quality.citations.part import citations
from benchmarks.quality.citations.records import GRAPHS
from benchmarks.quality.claim_support.items import SETS
from benchmarks.quality.claim_support.part import support
from benchmarks.quality.given import Asked, Given
from benchmarks.quality.grapheval.data import DATA, inno_eval
from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.judged_sets.part import every_judged_set
from benchmarks.quality.judges import JUDGES, Judge, settings_for
from benchmarks.quality.literature_parts import scholarideas, search
from benchmarks.quality.own_references import own_references
from benchmarks.quality.papers import idea_of
from benchmarks.quality.parts import groups, pairs, points
from benchmarks.quality.plans.part import plans
from benchmarks.quality.preferences.part import preferences
from benchmarks.quality.readings.part import readings
from benchmarks.quality.rewards.part import add_rewards_options, rewards
from benchmarks.quality.venue_scores.part import venue_scores
from cluster.settings_loading import load_settings
from workers.embedding.local_embedder import local_embedder

__all__ = ["main"]

_PARTS: Mapping[str, Callable[[Given], Iterator[str]]] = {
    "all": every_judged_set,
    "ablations": ablations,
    "points": points,
    "pairs": pairs,
    "groups": groups,
    "scholarideas": scholarideas,
    "search": search,
    "citations": citations,
    "references": own_references,
    "readings": readings,
    "plans": plans,
    "preferences": preferences,
    "rewards": rewards,
    "scores": venue_scores,
    "support": support,
}


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    named = {"ASSAYER_LLM__BASE_URL": options.endpoint, "ASSAYER_LLM__MODEL": options.model}
    os.environ |= {name: value for name, value in named.items() if value}
    try:
        _run(options)
    except AssayerError as error:
        print(f"Stopped: {error} What was measured is kept; start again to go on.", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    print(f"{machine()}\n{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC\n", flush=True)
    judge: Judge | None = options.judge or ("endpoint" if load_settings().llm else None)
    asked = Asked(
        judge=None if options.no_llm else judge,
        out=options.out,
        seeds=tuple(range(options.seed, options.seed + options.repeats)),
        first=options.first,
        probe=options.probe,
        yes=options.yes,
        limit_usd=options.limit_usd,
        retry_failed=options.retry_failed,
    )
    with ExitStack() as stack:
        graded = {idea_of(paper).text: paper.label for paper in inno_eval().grouped}
        settings = stack.enter_context(settings_for(asked.judge, options.out, options.latency, graded))
        embedder = stack.enter_context(closing(local_embedder(settings.embedder)))
        vectorise = Vectoriser(embedder, options.vectors)
        given = Given(asked, settings, embedder, vectorise, options.rounds, options)
        for line in _PARTS[options.part](given):
            print(line, flush=True)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    for name in _PARTS:
        part = parts.add_parser(name, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        _common(part)
        _own(name, part)
    options = parser.parse_args(arguments)
    if not DATA.is_dir():
        parser.exit(2, f"{DATA} is not there: the benchmark needs the data folder beside the clone.\n")
    return options


def _common(part: argparse.ArgumentParser) -> None:
    who = part.add_mutually_exclusive_group()
    who.add_argument("--judge", choices=JUDGES, help="who answers; the endpoint of the settings if there is one")
    who.add_argument("--simulate", dest="judge", action="store_const", const="simulator", help="as --judge simulator")
    who.add_argument("--no-llm", action="store_true", help="whatever the settings say")
    part.add_argument("--endpoint", help="address of the language model, in place of that of the settings")
    part.add_argument("--model", help="its name, in place of that of the settings")
    part.add_argument("--latency", type=float, default=0.0, help="mean seconds of a simulated answer")
    part.add_argument("--out", type=Path, default=Path("build/quality"), help="keeps what was measured")
    part.add_argument("--vectors", type=Path, default=Path("build/grapheval-vectors"), help="keeps embeddings")
    part.add_argument("--first", type=int, help="at most so many items")
    part.add_argument("--seed", type=int, default=0, help="of shuffling, boards and folds")
    part.add_argument("--repeats", type=int, default=1, help="with this seed and those after it")
    part.add_argument("--rounds", type=int, default=1000, help="of the bootstrap")
    part.add_argument("--probe", type=int, help="measure so many items, tell the cost of the others, do not ask them")
    part.add_argument("--limit-usd", "--max-usd", type=float, default=1.0, help="what a run may cost without --yes")
    part.add_argument("--yes", action="store_true", help="whatever it costs")
    part.add_argument("--retry-failed", action="store_true", help="try again what ended without a verdict")


_EVIDENCE = "folder of report JSON of these papers: the judge also sees what they found"


def _own(name: str, part: argparse.ArgumentParser) -> None:
    if name == "all":
        part.add_argument("--page", type=Path, help="folder of the page and of its figures as JSON; --out if not given")
    elif name == "ablations":
        part.add_argument(
            "--method", choices=("grapheval", "innoeval", "scholareval", "scicompanion"), default="grapheval"
        )
    elif name == "points":
        part.add_argument("--all", action="store_true", help="score the papers of pairs and groups too")
        part.add_argument("--fold-repeats", type=int, default=3, help="of the learned baselines")
    elif name == "pairs":
        part.add_argument("--both", action="store_true", help="ask every pair in both orders")
        part.add_argument("--evidence", type=Path, help=_EVIDENCE)
    elif name == "groups":
        part.add_argument("--evidence", type=Path, help=_EVIDENCE)
    elif name == "preferences":
        part.add_argument("--reports", type=Path, nargs=2, required=True, help="two folders of report JSON")
    elif name == "scholarideas":
        part.add_argument("--method", choices=("scholareval", "innoeval"), default="scholareval")
        part.add_argument("--only", default="", help="ideas whose names begin so: ai_, neuro_, biochem_, eco_")
    elif name == "support":
        part.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="which sets of claims")
    elif name == "citations":
        part.add_argument("--graphs", nargs="+", choices=GRAPHS, default=GRAPHS, help="which citation graphs")
        part.add_argument("--half", choices=("tuning", "reported"), default="reported", help="of the queries")
        part.add_argument("--hashed", action="store_true", help="hashed words in place of the embedding model")
        part.add_argument("--corpora", type=Path, default=Path("build/citations"), help="keeps the corpora")
    elif name == "scores":
        part.add_argument("--years", type=int, nargs="+", default=[2017], help="of which the method itself is asked")
        part.add_argument("--corpus", type=Path, help="for what a search tells; that of the settings if not given")
    elif name == "rewards":
        add_rewards_options(part)
    elif name == "search":
        part.add_argument("--reports", type=Path, nargs="*", help="folders of report JSON; those in --out if not given")


if __name__ == "__main__":
    sys.exit(main())
