"""`python -m benchmarks.attacks numbers`: sentences of abstracts as claims, held against their own and other ones.

The first must raise no flag, as they are and with their shares and thousands written in another way; the second are
claims that cite the wrong paper. Intervals are Wilson's, 95 %.
"""

import argparse
import random
import re

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.models import PaperId
from benchmarks.attacks.misquotations import sentences
from benchmarks.attacks.quotes import abstracts, wilson

_PAPER = PaperId("a")
_HAS_NUMBER = re.compile(r"(?<![A-Za-z0-9-])[0-9]")
_SHARE = re.compile(r"([0-9](?:\.[0-9]+)?)\s?\\?%")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks numbers", description=__doc__)
    parser.add_argument("--abstracts", type=int, default=8_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    papers = [text for _, text in abstracts(options.seed)]
    rng = random.Random(options.seed)
    kinds: dict[str, list[bool]] = {"its own abstract": [], "its own, told in another way": [], "another abstract": []}
    for text in papers[: options.abstracts]:
        for claim in filter(_HAS_NUMBER.search, sentences(text)):
            kinds["its own abstract"].append(_is_flagged(claim, text))
            retold = _THOUSANDS.sub("", _SHARE.sub(r"\1 percent", claim))
            if retold != claim:
                kinds["its own, told in another way"].append(_is_flagged(retold, text))
            kinds["another abstract"].append(_is_flagged(claim, rng.choice(papers)))
    print("| claim held against | claims | flagged | 95 % |\n|:--|--:|--:|:--|")
    for name, flags in kinds.items():
        low, high = wilson(sum(flags), len(flags))
        print(f"| {name} | {len(flags):,} | {sum(flags):,} | {100 * low:.2f} to {100 * high:.2f} |")


def _is_flagged(claim: str, text: str) -> bool:
    return bool(KnownNumbers(frozenset(), {_PAPER: numbers_in(text)}).missing_from(claim, [_PAPER]))
