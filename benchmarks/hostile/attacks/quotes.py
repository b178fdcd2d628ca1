"""Test of the quote check with distorted and honest quotes of abstracts.

The quotes are made from the real abstracts in `shared/data/papers`. "By words alone" counts quotes whose words occur in
the title or text; "shown cut" counts verified quotes that are shown without the rest of a sentence. Intervals are
Wilson's, 95 %.
"""

import argparse
import random
import sys
import time
from math import sqrt
from typing import NamedTuple

from assayer.citing.evidence import Evidence, check_quote
from assayer.citing.quotes import occurs_in
from assayer.models import PaperId
from benchmarks.hostile.attacks.misquotations import HONEST, HOSTILE, Maker, cases
from benchmarks.measuring import command_line
from benchmarks.records import DATA, read_records


class _Tally(NamedTuple):
    tried: int
    by_words: int
    """Number of quotes that would be verified by their words alone."""
    verified: int
    cut: int
    """Number of verified quotes shown without the rest of a sentence."""
    not_the_source: int
    """Number of verified quotes shown in words that are not a passage of the source."""


def main(arguments: list[str]) -> None:
    parser = command_line("hostile.attacks quotes", __doc__)
    parser.add_argument("--cases", type=int, default=1_000, help="maximum number of cases of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    papers = abstracts(options.seed)
    began = time.perf_counter()
    print(f"{len(papers):,} abstracts, at most {options.cases:,} cases of each kind, seed {options.seed}\n")
    for title, makers in (("Hostile", HOSTILE), ("Honest", HONEST)):
        print(f"| {title} quotes | tried | by words alone | verified | 95 % | shown cut |\n|:--|--:|--:|--:|:--|--:|")
        for name, make in makers.items():
            tally = _tried(make, papers, options)
            low, high = wilson(tally.verified, tally.tried)
            interval = f"{100 * low:.1f} to {100 * high:.1f}"
            print(
                f"| {name} | {tally.tried:,} | {tally.by_words:,} | {tally.verified:,} | {interval} | {tally.cut:,} |"
            )
            if tally.not_the_source:
                sys.exit(f"{tally.not_the_source} verified quotes are not passages of their source")
        print()
    print(f"Every verified quote was a passage of its source. {time.perf_counter() - began:.0f} s.")


def abstracts(seed: int) -> list[tuple[str, str]]:
    records = read_records(DATA / "papers" / "papers.jsonl.gz")
    papers = [(record["title"], " ".join(record["abstract"].split())) for record in records if record["abstract"]]
    random.Random(seed).shuffle(papers)
    return papers


def _tried(make: Maker, papers: list[tuple[str, str]], options: argparse.Namespace) -> _Tally:
    tried = by_words = verified = cut_count = foreign = 0
    for case in cases(make, papers, options.cases, random.Random(options.seed)):
        tried += 1
        by_words += any(occurs_in(case.quote, item) for item in (case.title, case.text))
        evidence = Evidence(label="P1", paper_id=PaperId("a"), title=case.title, year=None, text=case.text)
        quote = check_quote(case.quote, evidence)
        if quote is not None and quote.state == "verified":
            verified += 1
            pieces = quote.words.split(" … ")
            foreign += not all(piece in case.text for piece in pieces)
            cut_count += not all(_is_whole(piece, case.text) for piece in pieces)
    return _Tally(tried, by_words, verified, cut_count, foreign)


def _is_whole(piece: str, text: str) -> bool:
    """Return whether a passage of a text begins and ends at sentence boundaries."""
    text_before, _, text_after = text.partition(piece)
    return text_before.rstrip()[-1:] in ("", *'.!?)”"’:') and (text_after[:1] in ("", *".!?") or piece[-1] in '.!?)”"’')


def wilson(successes: int, total: int) -> tuple[float, float]:
    if not total:
        return 0.0, 1.0
    share, z = successes / total, 1.96
    middle, half_width = (
        share + z * z / (2 * total),
        z * sqrt(share * (1 - share) / total + z * z / (4 * total * total)),
    )
    return max(0.0, (middle - half_width) / (1 + z * z / total)), min(1.0, (middle + half_width) / (1 + z * z / total))
