"""Invented citations between simulated papers: only of earlier papers, mostly on similar topics."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from random import Random

from simulator.outside.lookup import words

_MOST = 30
_RANDOM_REFERENCES = 3
"""Number of references to random papers on any topic."""


def references(papers: Sequence[tuple[dt.date | None, str]]) -> list[tuple[int, ...]]:
    """Return for each (date, title) the numbers of the papers it cites; undated papers cite nothing and are not
    cited."""
    found: list[tuple[int, ...]] = [()] * len(papers)
    earlier: list[int] = []
    about: dict[str, list[int]] = defaultdict(list)
    dated = sorted((date, number) for number, (date, _) in enumerate(papers) if date is not None)
    for _, group in groupby(dated, key=lambda pair: pair[0]):
        numbers = [number for _, number in group]
        for number in numbers:
            found[number] = _chosen(number, papers[number][1], about, earlier)
        for number in numbers:
            earlier.append(number)
            for word in words(papers[number][1]):
                about[word].append(number)
    return found


def _chosen(number: int, title: str, about: dict[str, list[int]], earlier: list[int]) -> tuple[int, ...]:
    """Return the papers cited: mostly papers that share a word of the title, starting with its rarest words."""
    random = Random(number)
    wanted = random.randint(5, _MOST)
    chosen: dict[int, None] = {}
    for word in sorted(words(title), key=lambda word: len(about.get(word, ()))):
        sharing = about.get(word, ())
        chosen |= dict.fromkeys(random.sample(sharing, min(len(sharing), wanted - _RANDOM_REFERENCES - len(chosen))))
        if len(chosen) >= wanted - _RANDOM_REFERENCES:
            break
    chosen |= dict.fromkeys(random.sample(earlier, min(len(earlier), _RANDOM_REFERENCES)))
    return tuple(chosen)
