"""`python -m benchmarks.overnight`: what overnight batches cost and survive, and what their calls have in common.

`night` sends ideas through a service whose language model is the simulator, with batches that fail, stall, expire and
are cancelled, and kills the service while calls are out. `prefixes` records what evaluations of the ScholarIdeas ask.
Neither says anything about quality.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from assayer.methods import scholareval
from benchmarks.chaos.__main__ import built_corpus, varied_texts
from benchmarks.overnight.asking import asked_prompts
from benchmarks.overnight.night import Night, Outcome, spend_night
from benchmarks.overnight.prefixes import Shares, shares
from benchmarks.throughput.__main__ import DATA
from benchmarks.throughput.ideas import scholar_ideas
from benchmarks.throughput.machine import machine


def main() -> None:
    options = _options()
    # Told to stop, it stops what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"Machine: {machine()}", flush=True)
    # Not below the working directory: as root the database's server runs as a user who may not pass through it.
    with tempfile.TemporaryDirectory(prefix="assayer-night-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o711)
        corpus = options.corpus or built_corpus(home / "corpus")
        if options.part == "prefixes":
            ideas = [idea for idea in scholar_ideas(options.data) if idea.source.startswith(options.only)]
            prompts = asyncio.run(asked_prompts(ideas[: options.ideas], scholareval.METHOD, corpus, home))
            print(told_shares(len(ideas[: options.ideas]), shares(prompts)))
            return
        kills = (1, 8) if options.kill else ()
        night = Night(varied_texts(options.ideas or 200), corpus, faults=not options.calm, kill_after=kills)
        outcome = asyncio.run(spend_night(night, home))
        if options.log:
            options.log.write_text((home / "serve.log").read_text("utf-8", "replace"), "utf-8")
    print(told_night(outcome))
    sys.exit(bool(outcome.stats.repeated_batch_prompts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overnight", description=__doc__)
    parser.add_argument("part", choices=("night", "prefixes"))
    parser.add_argument("--ideas", type=int, help="at most so many (default: 200 in a night, all ScholarIdeas)")
    parser.add_argument("--corpus", type=Path, help="made by `assayer corpus build`; default: of the examples")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with scholarideas/ (default: %(default)s)")
    parser.add_argument("--only", default="", help="ScholarIdeas whose names begin so")
    parser.add_argument("--calm", action="store_true", help="without faults")
    parser.add_argument("--no-kill", dest="kill", action="store_false", help="the service lives")
    parser.add_argument("--log", type=Path, help="write here what the service logged")
    return parser.parse_args()


def told_night(outcome: Outcome) -> str:
    stats, before, during = outcome.stats, outcome.by_hand_before, outcome.by_hand_during
    each = (outcome.waiting_bytes - outcome.idle_bytes) / max(1, outcome.most_waiting) / 2**20
    by_hand = 0.0 if during is None else during.cost_usd
    ledger = "unknown" if outcome.cost_usd is None else f"{outcome.cost_usd + by_hand:.4f} USD"
    return "\n".join(
        [
            f"States: {dict(outcome.states)} after {outcome.seconds:.0f} s; the service was killed {outcome.kills} "
            f"times and started {outcome.starts} times",
            f"Answers: {stats.answered}, of them {stats.batch_answers} in {stats.batches} batches; troubles: "
            f"{stats.injected}",
            f"Paid twice: {stats.repeated_batch_prompts} prompts with an answer of a batch, {stats.repeated_prompts} "
            "in all (what a killed service was asking live is asked again)",
            f"Price: {ledger} by the ledger, {outcome.billed_usd:.4f} USD billed by the simulator, the idea by hand "
            f"({by_hand:.4f} USD) included; live {outcome.live_usd:.4f} USD "
            f"({outcome.billed_usd / outcome.live_usd:.1%})",
            f"Memory: {outcome.idle_bytes / 2**20:.0f} MiB idle, {outcome.waiting_bytes / 2**20:.0f} MiB with "
            f"{outcome.most_waiting} ideas in hand: {each:.2f} MiB an idea",
            f"An idea by hand: {before.seconds:.1f} s before, "
            + ("not asked in the night" if during is None else f"{during.seconds:.1f} s in the night"),
        ]
    )


def told_shares(ideas: int, found: Shares) -> str:
    return "\n".join(
        [
            f"{ideas} ideas asked {found.calls:,} calls, {found.tokens:,} prompt tokens (characters / 4)",
            f"The beginning of an earlier call: {found.ever:.1%}",
            f"The same, where a server keeps 1,024 tokens or more, in steps of 128: {found.in_steps:.1%}",
            f"Of one of the last 16 calls: {found.recent_as_asked:.1%} as asked, {found.recent_sorted:.1%} in a file",
        ]
    )


if __name__ == "__main__":
    main()
