"""`python -m benchmarks.quality PART`: how good the verdicts are compared with simpler methods, with intervals.

- all: every judged set on one page: the program, simpler scorers, people compared with people
- judge: the reviews themselves: coverage of experts' points, planted flaws, persuasive wording, repeatability
- references: the check of an idea's own references: finds real ones, recognises invented and wrong ones
- rewards: ideas that deserve no reward, scored by guards and by a model's debates
- support: claims with passages: whether the program recognises what a passage supports

Uses the language model from the settings. --simulate starts an endpoint with invented answers, which shows that
everything runs but says nothing about quality. Without a model, only baselines and methods that need no model are
measured. Outcomes are kept in --out; a second run does only what is missing. --first and --minutes bound a run:

    python -m benchmarks.quality all --local-model FILE --first 6 --minutes 60 --contenders pairs
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from assayer.errors import AssayerError
from benchmarks.ledger import count_answers, format_answers
from benchmarks.measuring import build_parser, format_heading
from benchmarks.quality.claim_support.items import SETS
from benchmarks.quality.claim_support.part import measure_support
from benchmarks.quality.grapheval.data import read_inno_eval
from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.judge.answering import PARAGRAPH_NAME
from benchmarks.quality.judge.part import TESTS
from benchmarks.quality.judge.part import run_judge_tests as judge_part
from benchmarks.quality.judged_sets.contenders import CONTENDERS
from benchmarks.quality.judged_sets.page import TITLES
from benchmarks.quality.judged_sets.part import measure_judged_sets
from benchmarks.quality.judges import JUDGES, Judge, open_settings
from benchmarks.quality.own_references import measure_own_references
from benchmarks.quality.papers import build_idea
from benchmarks.quality.part_inputs import PartInputs, RunOptions
from benchmarks.quality.rewards.part import add_rewards_options, measure_rewards
from benchmarks.records import DATA
from cluster.methods import METHODS
from cluster.settings_loading import load_settings
from workers.embedding.embedder import create_local_embedder

_PARTS: Mapping[str, Callable[[PartInputs], Iterator[str]]] = {
    "all": measure_judged_sets,
    "references": measure_own_references,
    "judge": judge_part,
    "rewards": measure_rewards,
    "support": measure_support,
}


def main(arguments: list[str] | None = None) -> int:
    options = _parse_arguments(arguments)
    environment = {"ASSAYER_LLM__BASE_URL": options.endpoint, "ASSAYER_LLM__MODEL": options.model}
    os.environ |= {name: value for name, value in environment.items() if value}
    try:
        _run(options)
    except AssayerError as error:
        print(f"Stopped: {error} The outcomes so far are kept; run the command again to continue.", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    print(f"{format_heading()}\n", flush=True)
    recorded_judge: Judge | None = "recorded" if getattr(options, "recorded", None) else None
    real_model = options.local_model or load_settings().llm
    judge: Judge | None = options.judge or recorded_judge or ("endpoint" if real_model else None)
    sets = frozenset(getattr(options, "sets", ()))
    run_options = RunOptions(
        judge=None if options.no_llm else judge,
        out=options.out,
        seeds=tuple(range(options.seed, options.seed + options.repeats)),
        first=options.first,
        probe=options.probe,
        yes=options.yes,
        limit_usd=options.limit_usd,
        retry_failed=options.retry_failed,
        deadline=None if options.minutes is None else time.monotonic() + 60 * options.minutes,
        contenders=[name for name in options.contenders if CONTENDERS[name] & sets] if options.part == "all" else (),
        sets=sets,
    )
    with ExitStack() as stack:
        labels_by_text = {build_idea(paper).text: paper.label for paper in read_inno_eval().grouped}
        settings = stack.enter_context(
            open_settings(run_options.judge, options.out, options.latency, labels_by_text, options.local_model)
        )
        embedder = stack.enter_context(closing(create_local_embedder(settings.embedder)))
        vectorise = Vectoriser(embedder, options.vectors)
        inputs = PartInputs(run_options, settings, embedder, vectorise, options.rounds, options)
        for line in _PARTS[options.part](inputs):
            print(line, flush=True)
        if run_options.judge == "endpoint":
            print("\nRequests so far, of all parts that use this data directory:\n")
            print("\n".join(format_answers(asyncio.run(count_answers(settings)))))


def _parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = build_parser("quality", __doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    for name in _PARTS:
        part = parts.add_parser(name, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        _add_common_options(part)
        _add_part_options(name, part)
    options = parser.parse_args(arguments)
    if not DATA.is_dir():
        parser.exit(2, f"{DATA} was not found. The benchmark needs the data folder beside the clone.\n")
    return options


def _add_common_options(part: argparse.ArgumentParser) -> None:
    judge_options = part.add_mutually_exclusive_group()
    judge_options.add_argument("--judge", choices=JUDGES, help="who answers; by default the settings' endpoint")
    judge_options.add_argument(
        "--simulate", dest="judge", action="store_const", const="simulator", help="same as --judge simulator"
    )
    judge_options.add_argument("--no-llm", action="store_true", help="use no language model, whatever the settings say")
    part.add_argument("--endpoint", help="language model's address; overrides the settings")
    part.add_argument("--model", help="name of the language model; overrides the settings")
    judge_options.add_argument(
        "--local-model", help="GGUF file, or package that contains one; llama.cpp's server runs it"
    )
    part.add_argument("--latency", type=float, default=0.0, help="mean time of a simulated answer in seconds")
    part.add_argument("--out", type=Path, default=Path("build/quality"), help="folder in which outcomes are kept")
    part.add_argument(
        "--vectors", type=Path, default=Path("build/grapheval-vectors"), help="folder in which embeddings are kept"
    )
    part.add_argument("--first", type=int, help="largest number of items")
    part.add_argument("--minutes", type=float, help="time limit of the language model's answers; 0 asks nothing more")
    part.add_argument("--seed", type=int, default=0, help="seed of shuffling, boards and folds")
    part.add_argument(
        "--repeats", type=int, default=1, help="number of repetitions, with --seed and the seeds after it"
    )
    part.add_argument("--rounds", type=int, default=1000, help="rounds of the bootstrap")
    part.add_argument("--probe", type=int, help="measure only this many items and report the cost of the others")
    part.add_argument("--limit-usd", "--max-usd", type=float, default=1.0, help="largest cost without --yes")
    part.add_argument("--yes", action="store_true", help="run whatever the cost")
    part.add_argument("--retry-failed", action="store_true", help="retry items that ended without a verdict")


def _add_part_options(name: str, part: argparse.ArgumentParser) -> None:
    if name == "all":
        part.add_argument("--page", type=Path, help="folder for the page and its JSON figures; --out by default")
        part.add_argument(
            "--contenders", nargs="+", choices=CONTENDERS, default=[*CONTENDERS], help="what the language model does"
        )
        part.add_argument("--sets", nargs="+", choices=TITLES, default=[*TITLES], help="judged sets to measure")
    elif name == "judge":
        part.add_argument("tests", nargs="*", choices=[*TESTS, []], help="which tests; all by default")
        part.add_argument("--plans", nargs="+", default=(), help="names of plans in the data folder, or text files")
        part.add_argument(
            "--rubrics", type=Path, default=DATA / "scholarideas", help="folder with the experts' points of each plan"
        )
        part.add_argument(
            "--contenders",
            nargs="+",
            default=["review", "scholareval", PARAGRAPH_NAME],
            choices=[*METHODS, PARAGRAPH_NAME],
            help="who writes the reviews; the first also provides the baseline",
        )
        part.add_argument("--words", type=int, default=1_200, help="length at which reviews are compared")
        part.add_argument("--copies", type=Path, help="folder of flawed copies; by default in the data directory")
        part.add_argument("--recorded", type=Path, help="folder with prompts/ to answer and answers/ to continue from")
        part.add_argument("--invented", action="store_true", help="with --recorded: invent the missing answers")
    elif name == "support":
        part.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="which sets of claims")
    elif name == "rewards":
        add_rewards_options(part)


if __name__ == "__main__":
    sys.exit(main())
