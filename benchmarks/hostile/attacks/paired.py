"""Comparison of clean and attacked copies of real ideas: which attacked copies are flagged.

Orders are inserted into ideas of experts and of models in every way, in nine languages in turn. It is counted whether
the order is flagged, and whether it reaches the judge of the idea.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import cycle
from typing import NamedTuple

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from assayer.models.idea import suspicious_kinds
from benchmarks.hostile.attacks.orders_in_ideas import HONEST_SENTENCE, IN_TEXT
from benchmarks.hostile.hidden_text.orders import ORDERS
from benchmarks.hostile.hidden_text.sources import read_honest_ideas
from benchmarks.measuring import build_parser


class Pair(NamedTuple):
    way: str
    language: str
    clean: Idea
    attacked: Idea
    control: Idea
    is_flagged: bool
    """Whether the attacked copy has a flag that the clean copy lacks."""
    reaches_judge: bool
    """Whether the letters of the order occur in the text that the judge sees."""


def main(arguments: list[str]) -> None:
    parser = build_parser("hostile.attacks paired", __doc__)
    parser.add_argument("--ideas", type=int, default=97, help="number of ideas to attack, each in every way")
    texts = read_honest_ideas()[: parser.parse_args(arguments).ideas]
    print(_describe_results(texts, build_pairs(texts)))


def build_pairs(texts: Iterable[str]) -> list[Pair]:
    """Return a pair for each idea and each way, with the languages in turn."""
    languages = cycle(ORDERS.items())
    return [_build_pair(text, way, *next(languages)) for text in texts for way in IN_TEXT]


def _build_pair(text: str, way: str, language: str, order: str) -> Pair:
    clean, attacked, control = (
        parse_idea(item, "idea.md") for item in (text, IN_TEXT[way](text, order), IN_TEXT[way](text, HONEST_SENTENCE))
    )
    flags_before = Counter(flag.kind for flag in clean.flags)
    flags_after = Counter(flag.kind for flag in attacked.flags)
    return Pair(
        way=way,
        language=language,
        clean=clean,
        attacked=attacked,
        control=control,
        is_flagged=bool(
            suspicious_kinds(flag for flag in attacked.flags if flags_after[flag.kind] > flags_before[flag.kind])
        ),
        reaches_judge=_extract_letters(order) in _extract_letters(attacked.text),
    )


def _extract_letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _describe_results(texts: list[str], pairs: list[Pair]) -> str:
    honest = [parse_idea(text, "idea.md") for text in texts]
    false_count = sum(bool(suspicious_kinds(idea.flags)) for idea in honest)
    rows = [
        f"{len(texts)} ideas, {len(IN_TEXT)} ways, {len(ORDERS)} languages: {len(pairs):,} attacked copies, "
        f"{sum(pair.is_flagged for pair in pairs):,} flagged; "
        f"of the {sum(pair.reaches_judge for pair in pairs):,} whose order can still "
        f"be read, {sum(pair.is_flagged for pair in pairs if pair.reaches_judge):,}. "
        f"Honest ideas flagged: {false_count} of {len(honest)}.",
        "",
        "| way | copies | flagged | can still be read | unflagged and read |",
        "|:--|--:|--:|--:|--:|",
        *(_format_row(way, [pair for pair in pairs if pair.way == way]) for way in IN_TEXT),
        "",
        "| language | copies | flagged | can still be read | unflagged and read |",
        "|:--|--:|--:|--:|--:|",
        *(_format_row(language, [pair for pair in pairs if pair.language == language]) for language in ORDERS),
    ]
    return "\n".join(rows)


def _format_row(name: str, pairs: list[Pair]) -> str:
    silent_count = sum(pair.reaches_judge and not pair.is_flagged for pair in pairs)
    flagged_count, reaching_count = sum(pair.is_flagged for pair in pairs), sum(pair.reaches_judge for pair in pairs)
    return f"| {name} | {len(pairs)} | {flagged_count} | {reaching_count} | {silent_count} |"
