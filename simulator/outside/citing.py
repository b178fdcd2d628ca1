"""Invented citations between simulated papers: only of earlier papers, mostly on similar topics."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from random import Random

from simulator.outside.lookup import split_words

_MAX_REFERENCES = 30
_RANDOM_REFERENCES = 3
"""Number of references to random papers on any topic."""


def choose_all_references(papers: Sequence[tuple[dt.date | None, str]]) -> list[tuple[int, ...]]:
    """Return for each (date, title) the numbers of the papers it cites; undated papers cite nothing and are not
    cited."""
    references_by_number: list[tuple[int, ...]] = [()] * len(papers)
    earlier: list[int] = []
    numbers_by_word: dict[str, list[int]] = defaultdict(list)
    dated_numbers = sorted((date, number) for number, (date, _) in enumerate(papers) if date is not None)
    for _, group in groupby(dated_numbers, key=lambda pair: pair[0]):
        numbers = [number for _, number in group]
        for number in numbers:
            references_by_number[number] = _choose_references(number, papers[number][1], numbers_by_word, earlier)
        for number in numbers:
            earlier.append(number)
            for word in split_words(papers[number][1]):
                numbers_by_word[word].append(number)
    return references_by_number


def _choose_references(
    number: int, title: str, numbers_by_word: dict[str, list[int]], earlier: list[int]
) -> tuple[int, ...]:
    """Return the papers cited: mostly papers that share a word of the title, starting with its rarest words."""
    random = Random(number)
    count = random.randint(5, _MAX_REFERENCES)
    cited_numbers: dict[int, None] = {}
    for word in sorted(split_words(title), key=lambda word: len(numbers_by_word.get(word, ()))):
        sharing_numbers = numbers_by_word.get(word, ())
        cited_numbers |= dict.fromkeys(
            random.sample(sharing_numbers, min(len(sharing_numbers), count - _RANDOM_REFERENCES - len(cited_numbers)))
        )
        if len(cited_numbers) >= count - _RANDOM_REFERENCES:
            break
    cited_numbers |= dict.fromkeys(random.sample(earlier, min(len(earlier), _RANDOM_REFERENCES)))
    return tuple(cited_numbers)
