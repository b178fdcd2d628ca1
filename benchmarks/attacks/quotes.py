"""`python -m benchmarks.attacks quotes`: bent quotes of abstracts, and honest ones, against the check of quotes.

Both are cut from the real abstracts of `shared/data/papers`. "Before" is the check that asked only whether the words
stand in title or text. Intervals are Wilson's, 95 %.
"""

import argparse
import gzip
import json
import random
import sys
import time
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from assayer.citing.evidence import Evidence, Quoted, check_quote
from assayer.citing.quotes import stands_in
from assayer.models import PaperId
from benchmarks.attacks.misquotations import HONEST, HOSTILE, Case, Maker, cases

_PAPERS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "papers" / "papers.jsonl.gz"


class _Tally(NamedTuple):
    tried: int
    before: int
    """Verified when only the words counted."""
    after: int
    not_the_source: int
    """Verified, and shown in words that are not a stretch of the source."""
    objections: Counter[str]
    kept: list[Case]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks quotes", description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="cases of each kind to print that went wrong")
    options = parser.parse_args(arguments)
    papers = abstracts(options.seed)
    began = time.perf_counter()
    print(f"{len(papers):,} abstracts, at most {options.cases:,} cases of each kind, seed {options.seed}\n")
    for title, makers, wrong in (("Hostile", HOSTILE, True), ("Honest", HONEST, False)):
        print(f"| {title} quotes | tried | verified before | verified now | 95 % |\n|:--|--:|--:|--:|:--|")
        for name, make in makers.items():
            tally = _tried(make, papers, options, wrong)
            low, high = wilson(tally.after, tally.tried)
            now = f"{tally.after:,} ({_share(tally.after, tally.tried)})"
            print(f"| {name} | {tally.tried:,} | {tally.before:,} | {now} | {100 * low:.1f} to {100 * high:.1f} |")
            if tally.not_the_source:
                sys.exit(f"{tally.not_the_source} verified quotes are not cut from their source")
            if options.show:
                _print_details(tally, options.show)
        print()
    print(f"Every verified quote was a stretch of its source. {time.perf_counter() - began:.0f} s.")


def abstracts(seed: int) -> list[tuple[str, str]]:
    with gzip.open(_PAPERS, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    papers = [(one["title"], " ".join(one["abstract"].split())) for one in records if one["abstract"]]
    random.Random(seed).shuffle(papers)
    return papers


def _tried(make: Maker, papers: list[tuple[str, str]], options: argparse.Namespace, wrong: bool) -> _Tally:
    rng = random.Random(options.seed)
    tried = before = after = foreign = 0
    objections, kept = Counter[str](), list[Case]()
    for case in cases(make, papers, options.cases, rng):
        tried += 1
        old = any(stands_in(case.quote, one) for one in (case.title, case.text))
        quoted = check_quote(case.quote, _evidence(case))
        verified = quoted is not None and quoted.state == "verified"
        before += old
        after += verified
        foreign += verified and not _is_cut(quoted, case)
        if old and not verified and quoted is not None:
            objections[quoted.objection or "not found"] += 1
        if verified if wrong else old and not verified:
            kept.append(case)
    return _Tally(tried, before, after, foreign, objections, kept)


def _evidence(case: Case) -> Evidence:
    return Evidence(label="P1", paper_id=PaperId("a"), title=case.title, year=None, text=case.text)


def _is_cut(quoted: Quoted | None, case: Case) -> bool:
    return quoted is not None and all(piece in case.text for piece in quoted.words.split(" … "))


def _print_details(tally: _Tally, most: int) -> None:
    for objection, number in tally.objections.most_common(12):
        print(f"    {number} × {objection}")
    for case in tally.kept[:most]:
        at = case.text.find(case.quote[:30])
        print(f"    {case.text[max(0, at - 100) : at]!r} >>> {case.quote[:160]!r}")


def _share(some: int, of: int) -> str:
    return f"{100 * some / of:.1f} %" if of else "–"


def wilson(some: int, of: int) -> tuple[float, float]:
    if not of:
        return 0.0, 1.0
    share, z = some / of, 1.96
    middle, half = share + z * z / (2 * of), z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - half) / (1 + z * z / of)), min(1.0, (middle + half) / (1 + z * z / of))
