"""Distorting and honest quotes, made from a paper's own words."""

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Case(NamedTuple):
    """Quote, with the title and text that it claims to come from."""

    quote: str
    title: str
    text: str


_SENTENCE_END = re.compile(r"(?<=[^\s.][.!?])\s+(?=[A-Z])")
_NEGATION = re.compile(
    r"\b(?:not(?! only)|no|never|without|cannot|neither|nor|hardly|rarely|fails? to|failed to|unable to)\b", re.I
)

FRAMES = (
    "There is no evidence that {}",
    "We found no strong evidence to suggest that {}",
    "It is not true that {}",
    "Our results do not show that {}",
    "It remains unclear whether {}",
    "The authors failed to show that {}",
    "None of the experiments that we ran so far indicates that {}",
    "It is unlikely that {}",
    "We reject the hypothesis that {}",
    "Contrary to earlier reports that {}",
    "Nobody has ever shown that {}",
    "It would be wrong to conclude that {}",
    "There is little support for the claim that {}",
    "We doubt that {}",
    "Neither theory nor experiment supports the view that {}",
    "It cannot be said that {}",
    "The data don't support the idea that {}",
    "Rarely if ever was it observed that {}",
)
"""Templates that negate a statement or leave it open."""

Maker = Callable[[str, str, random.Random], Case | None]


def split_sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(" ".join(text.split())) if 10 <= len(part.split()) <= 60]


def _take_beginning(words: list[str], rng: random.Random) -> str:
    """Return the first 8 to 40 words."""
    return " ".join(words[: rng.randint(8, 40)])


def _build_negation_maker(skipped_words: int) -> Maker:
    def make(title: str, text: str, rng: random.Random) -> Case | None:
        clauses = [
            following_words
            for sentence in split_sentences(text)
            for match in _NEGATION.finditer(sentence)
            if len(following_words := sentence[match.end() :].split()[skipped_words:]) >= 8 and match.start() > 0
            if not any(
                "," in word or ";" in word or ":" in word for word in sentence[match.end() :].split()[:skipped_words]
            )
        ]
        return Case(_take_beginning(rng.choice(clauses), rng), title, text) if clauses else None

    return make


def _quote_framed_statement(title: str, text: str, rng: random.Random) -> Case | None:
    text_sentences = split_sentences(text)
    if not text_sentences:
        return None
    sentence = rng.choice(text_sentences)
    words = [sentence[0].lower() + sentence[1:].split()[0], *sentence.split()[1:]]
    framed_sentence = rng.choice(FRAMES).format(" ".join(words))
    return Case(
        _take_beginning(words, rng),
        title,
        " ".join(framed_sentence if item == sentence else item for item in text_sentences),
    )


def _quote_over_negation(title: str, text: str, rng: random.Random) -> Case | None:
    for sentence in split_sentences(text):
        for match in _NEGATION.finditer(sentence):
            left, right = sentence[: match.start()].split(), sentence[match.end() :].split()
            near, far = rng.randint(0, 8), rng.randint(0, 8)
            left, right = left[: len(left) - near], right[far:]
            if min(len(left), len(right)) >= 5:
                return Case(f"{' '.join(left[-20:])} … {' '.join(right[:20])}", title, text)
    return None


def _quote_over_number(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote whose ellipsis begins right after a number and omits what it counts."""
    for sentence in split_sentences(text):
        for match in re.finditer(r"(?<= )\d+(?:\.\d+)?(?= [a-z%])", sentence):
            left, right = sentence[: match.end()].split(), sentence[match.end() :].split()
            far = rng.randint(2, 5)
            if len(left) >= 5 and len(right) >= far + 5:
                return Case(f"{' '.join(left[-20:])} … {' '.join(right[far:][:20])}", title, text)
    return None


def _quote_over_contrast(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote with the subject of one clause and the predicate of another."""
    for sentence in split_sentences(text):
        match = re.search(r",? (?:whereas|while|but) (?=[^,;:]*$)", sentence)
        if match:
            left, right = sentence[: match.start()].split(), sentence[match.end() :].split()
            far = rng.randint(1, 3)
            if len(left) >= 5 and len(right) >= far + 5:
                return Case(f"{' '.join(left[: rng.randint(4, 8)])} … {' '.join(right[far:][:20])}", title, text)
    return None


def _build_glue_maker(between: str) -> Maker:
    """Return a maker of quotes that join the end of one sentence and the beginning of the next without the full
    stop."""

    def make(title: str, text: str, rng: random.Random) -> Case | None:
        text_sentences = split_sentences(text)
        text = " ".join(text_sentences)
        if len(text_sentences) < 2:
            return None
        position = rng.randrange(len(text_sentences) - 1)
        first, second = (
            text_sentences[position].rstrip(".!?").split(),
            text_sentences[position + 1].rstrip(".!?").split(),
        )
        left, right = rng.randint(4, len(first) - 1), rng.randint(4, len(second) - 1)
        return Case(f"{' '.join(first[-left:])}{between}{' '.join(second[:right])}", title, text)

    return make


def _quote_distant_sentences(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote of the beginning of one sentence and the end of a later one, with an ellipsis."""
    text_sentences = split_sentences(text)
    text = " ".join(text_sentences)
    if len(text_sentences) < 3:
        return None
    position = rng.randrange(len(text_sentences) - 2)
    later_position = rng.randrange(position + 1, len(text_sentences))
    first, second = text_sentences[position].split(), text_sentences[later_position].split()
    return Case(f"{' '.join(first[: len(first) // 2])} … {' '.join(second[len(second) // 2 :])}", title, text)


def _quote_title(title: str, text: str, rng: random.Random) -> Case | None:
    return Case(title, title, text)


def _quote_title_before_text(title: str, text: str, rng: random.Random) -> Case | None:
    return Case(title, title, f"{title}. {text}")


def _build_short_maker(min_words: int, max_words: int) -> Maker:
    def make(title: str, text: str, rng: random.Random) -> Case | None:
        words = text.split()
        size = rng.randint(min_words, max_words)
        if len(words) <= size:
            return None
        start = rng.randrange(len(words) - size)
        return Case(" ".join(words[start : start + size]), title, text)

    return make


def _build_change_maker(change: Callable[[list[str], random.Random], list[str] | None]) -> Maker:
    """Return a maker of honest quotes with one change."""

    def make(title: str, text: str, rng: random.Random) -> Case | None:
        case = _quote_anywhere(title, text, rng)
        words = change(case.quote.split(), rng) if case else None
        return Case(" ".join(words), title, text) if words else None

    return make


def _insert_negation(words: list[str], rng: random.Random) -> list[str]:
    position = rng.randrange(1, len(words))
    return [*words[:position], "not", *words[position:]]


def _drop_negation(words: list[str], rng: random.Random) -> list[str] | None:
    kept_words = [word for word in words if not _NEGATION.fullmatch(word)]
    is_inside = any(map(_NEGATION.fullmatch, words[1:-1]))
    return (
        kept_words
        if is_inside and len(kept_words) >= 8 and not any(map(_NEGATION.fullmatch, (words[0], words[-1])))
        else None
    )


def _change_number(words: list[str], rng: random.Random) -> list[str] | None:
    positions = [position for position, word in enumerate(words) if word.rstrip("%.,").isdigit()]
    if not positions:
        return None
    position = rng.choice(positions)
    number = words[position].rstrip("%.,")
    return [*words[:position], words[position].replace(number, str(int(number) + 3)), *words[position + 1 :]]


def _change_word(words: list[str], rng: random.Random) -> list[str]:
    position = rng.randrange(len(words))
    return [*words[:position], "questionable", *words[position + 1 :]]


def _swap_words(words: list[str], rng: random.Random) -> list[str] | None:
    position = rng.randrange(len(words) - 1)
    if words[position].lower().strip(".,") == words[position + 1].lower().strip(".,"):
        return None
    return [*words[:position], words[position + 1], words[position], *words[position + 2 :]]


def _quote_anywhere(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote that begins and ends at any word."""
    words = text.split()
    size = rng.randint(8, 40)
    if len(words) <= size:
        return None
    start = rng.randrange(len(words) - size)
    return Case(" ".join(words[start : start + size]), title, text)


def _quote_from_start(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote that begins with a sentence."""
    text_sentences = split_sentences(text)
    return Case(_take_beginning(rng.choice(text_sentences).split(), rng), title, text) if text_sentences else None


def _quote_sentence(title: str, text: str, rng: random.Random) -> Case | None:
    short_sentences = [sentence for sentence in split_sentences(text) if len(sentence.split()) <= 40]
    return Case(rng.choice(short_sentences), title, text) if short_sentences else None


def _quote_from_clause(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote that begins after a comma, a semicolon, a colon, `that` or `and`."""
    clauses = [
        following_words
        for sentence in split_sentences(text)
        for match in re.finditer(r"[,;:] | that | and ", sentence)
        if len(following_words := sentence[match.end() :].split()) >= 8
    ]
    return Case(_take_beginning(rng.choice(clauses), rng), title, text) if clauses else None


def _quote_negated_sentence(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote that contains a negation."""
    negated_sentences = [
        sentence.split() for sentence in split_sentences(text) if _NEGATION.search(" ".join(sentence.split()[1:20]))
    ]
    return Case(_take_beginning(rng.choice(negated_sentences), rng), title, text) if negated_sentences else None


def _quote_two_sentences(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote that continues after a full stop, including it."""
    text_sentences = split_sentences(text)
    text = " ".join(text_sentences)
    if len(text_sentences) < 2:
        return None
    position = rng.randrange(len(text_sentences) - 1)
    first, second = text_sentences[position].split(), text_sentences[position + 1].split()
    return Case(f"{' '.join(first[-rng.randint(4, 15) :])} {' '.join(second[: rng.randint(4, 15)])}", title, text)


def _quote_shortened(title: str, text: str, rng: random.Random) -> Case | None:
    """Make a quote with an ellipsis within a sentence without negation."""
    long_sentences = [
        sentence.split()
        for sentence in split_sentences(text)
        if len(sentence.split()) >= 20 and not _NEGATION.search(sentence)
    ]
    if not long_sentences:
        return None
    words = rng.choice(long_sentences)
    left, right = rng.randint(6, 8), rng.randint(6, 8)
    return Case(f"{' '.join(words[:left])} … {' '.join(words[-right:])}", title, text)


HOSTILE: dict[str, Maker] = {
    "begins right after a negation": _build_negation_maker(0),
    "begins one word after a negation": _build_negation_maker(1),
    "begins two words after a negation": _build_negation_maker(2),
    "the statement of a sentence that denies it": _quote_framed_statement,
    "its ellipsis leaves out a negation": _quote_over_negation,
    "its ellipsis cuts a number from what it counts": _quote_over_number,
    "its ellipsis joins two clauses": _quote_over_contrast,
    "two sentences without the full stop": _build_glue_maker(" "),
    "two sentences with a comma for the full stop": _build_glue_maker(", "),
    "an ellipsis from one sentence into a distant one": _quote_distant_sentences,
    "the paper's title": _quote_title,
    "the paper's title, which its text repeats": _quote_title_before_text,
    "one or two words": _build_short_maker(1, 2),
    "three to seven words": _build_short_maker(3, 7),
    "`not` put in": _build_change_maker(_insert_negation),
    "a negation left out": _build_change_maker(_drop_negation),
    "another number": _build_change_maker(_change_number),
    "another word": _build_change_maker(_change_word),
    "two words in the other order": _build_change_maker(_swap_words),
}
HONEST: dict[str, Maker] = {
    "begins at any word": _quote_anywhere,
    "begins with a sentence": _quote_from_start,
    "a whole sentence": _quote_sentence,
    "begins with a clause": _quote_from_clause,
    "carries a negation": _quote_negated_sentence,
    "runs over a full stop": _quote_two_sentences,
    "an ellipsis within a sentence": _quote_shortened,
    "an ellipsis between the end of a sentence and the next one": _build_glue_maker(" … "),
}


def make_cases(make: Maker, papers: list[tuple[str, str]], max_cases: int, rng: random.Random) -> Iterator[Case]:
    """Yield at most `max_cases` cases, at most one per paper."""
    made_cases = (make(title, text, rng) for title, text in papers)
    for _, case in zip(range(max_cases), (item for item in made_cases if item), strict=False):
        yield case
