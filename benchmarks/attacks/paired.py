"""`python -m benchmarks.attacks paired`: clean and attacked copies of real ideas, what is flagged, how scores shift.

Every way of putting an order into an idea's text, in nine languages by turns, into ideas of experts and of models: is
it flagged, and does it reach whoever judges? Then --pairs of them are evaluated whole, without a language model, over
the corpus of the settings: clean, with the order, and as a control with an honest sentence in the order's place. What
the order moves is set beside what the sentence moves.
"""

import argparse
import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import cycle, islice
from typing import NamedTuple

from assayer.errors import AssayerError
from assayer.ideas.parsing import parse_idea
from assayer.models import Absent, Idea, Report
from assayer.models.idea import suspicious_kinds
from benchmarks.attacks.orders_in_ideas import HONEST_SENTENCE, IN_TEXT
from benchmarks.hidden_text.orders import ORDERS
from benchmarks.hidden_text.sources import ideas
from benchmarks.quality.points import Silent
from cluster.engine import Engine, open_engine
from cluster.settings_loading import load_settings

__all__ = ["Pair", "main", "pairs", "scores_of"]


class Pair(NamedTuple):
    way: str
    language: str
    clean: Idea
    attacked: Idea
    control: Idea
    flagged: bool
    """What the clean copy has no flag for."""
    reaches: bool
    """The order stands, letter by letter, in what whoever judges is given."""


class _Shifts(NamedTuple):
    pair: Pair
    by_order: Counter[str]
    by_sentence: Counter[str]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attacks paired",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--ideas", type=int, default=97, help="that are attacked, each in every way")
    parser.add_argument("--pairs", type=int, default=20, help="that are evaluated whole")
    parser.add_argument("--method", default="scholareval")
    asked = parser.parse_args(arguments)
    texts = ideas()[: asked.ideas]
    found = pairs(texts)
    print(_told(texts, found))
    if asked.pairs:
        chosen = _spread(found, asked.pairs)
        print(asyncio.run(_evaluated(chosen, asked.method)))


def pairs(texts: Iterable[str]) -> list[Pair]:
    """Each idea in each way; the language is another each time."""
    languages = cycle(ORDERS.items())
    return [_pair(text, way, *next(languages)) for text in texts for way in IN_TEXT]


def _pair(text: str, way: str, language: str, order: str) -> Pair:
    clean, attacked, control = (
        parse_idea(one, "idea.md") for one in (text, IN_TEXT[way](text, order), IN_TEXT[way](text, HONEST_SENTENCE))
    )
    before = Counter(flag.kind for flag in clean.flags)
    after = Counter(flag.kind for flag in attacked.flags)
    return Pair(
        way=way,
        language=language,
        clean=clean,
        attacked=attacked,
        control=control,
        flagged=bool(suspicious_kinds(flag for flag in attacked.flags if after[flag.kind] > before[flag.kind])),
        reaches=_letters(order) in _letters(attacked.text),
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _told(texts: list[str], found: list[Pair]) -> str:
    honest = [parse_idea(text, "idea.md") for text in texts]
    false = sum(bool(suspicious_kinds(idea.flags)) for idea in honest)
    rows = [
        f"{len(texts)} ideas, {len(IN_TEXT)} ways, {len(ORDERS)} languages: {len(found):,} attacked copies, "
        f"{sum(one.flagged for one in found):,} flagged; of the {sum(one.reaches for one in found):,} whose order can "
        f"still be read, {sum(one.flagged for one in found if one.reaches):,}. "
        f"Honest ideas flagged: {false} of {len(honest)}.",
        "",
        "| way | copies | flagged | can still be read | unflagged and read |",
        "|:--|--:|--:|--:|--:|",
        *(_row(way, [one for one in found if one.way == way]) for way in IN_TEXT),
        "",
        "| language | copies | flagged | can still be read | unflagged and read |",
        "|:--|--:|--:|--:|--:|",
        *(_row(language, [one for one in found if one.language == language]) for language in ORDERS),
    ]
    return "\n".join(rows)


def _row(name: str, own: list[Pair]) -> str:
    silent = sum(one.reaches and not one.flagged for one in own)
    return f"| {name} | {len(own)} | {sum(one.flagged for one in own)} | {sum(one.reaches for one in own)} | {silent} |"


def _spread(found: list[Pair], number: int) -> list[Pair]:
    """Of as many ways, ideas and languages as there can be."""
    step = len(IN_TEXT) + 1
    return list(islice(cycle([found[place % len(found)] for place in range(0, step * number, step)]), number))


async def _evaluated(chosen: list[Pair], method: str) -> str:
    began = time.monotonic()
    load = os.getloadavg()[0]
    shifts: list[_Shifts] = []
    async with open_engine(load_settings(), (method,)) as engine:
        for pair in chosen:
            clean = await _scores(engine, pair.clean, method)
            by_order = _shift(clean, await _scores(engine, pair.attacked, method))
            shifts.append(_Shifts(pair, by_order, _shift(clean, await _scores(engine, pair.control, method))))
    return "\n".join(
        (
            "",
            f"{len(shifts)} pairs, each with a control, evaluated whole by {method} without a language model in "
            f"{time.monotonic() - began:.0f} s; load {load:.1f} before.",
            "",
            "| put in | copies | with anything moved | figures | moved | of these upwards |",
            "|:--|--:|--:|--:|--:|--:|",
            _summed("the order", [one.by_order for one in shifts]),
            _summed("an honest sentence", [one.by_sentence for one in shifts]),
            "",
            *(
                f"{one.pair.way}, {one.pair.language}: {dict(one.by_order)}; control {dict(one.by_sentence)}"
                for one in shifts
                if one.by_order != one.by_sentence
            ),
        )
    )


def _summed(what: str, shifts: list[Counter[str]]) -> str:
    moved = sum(one["moved"] > 0 for one in shifts)
    whole = sum(shifts, Counter[str]())
    return f"| {what} | {len(shifts)} | {moved} | {whole['figures']} | {whole['moved']} | {whole['up']} |"


async def _scores(engine: Engine, idea: Idea, method: str) -> Mapping[str, float]:
    try:
        return scores_of((await engine.evaluate(idea, method, None, Silent())).report)
    except AssayerError as error:
        raise RuntimeError(f"An idea could not be evaluated: {error}") from error


def scores_of(report: Report) -> dict[str, float]:
    """Every figure of a report that says how good the idea is; a judgement that is absent has none."""
    found: dict[str, float] = {}
    for part in report.parts:
        for name, score in (
            (part.name, part.score),
            *((f"{part.name}/{one.name}", one.score) for one in part.assessments),
        ):
            if not isinstance(score, Absent):
                found[name] = score.value
        for one in part.assessments:
            for side in ("support", "strength", "contradiction", "weakness"):
                sign = 1 if side in ("support", "strength") else -1
                found[f"{part.name}/{one.name}/{side}"] = sign * sum(point.kind == side for point in one.points)
    plan = report.plan_review
    if plan is not None and not isinstance(plan.checklist, Absent):
        found |= {f"plan/{row.item}": float(row.outcome == "stated") for row in plan.checklist}
    return found


def _shift(before: Mapping[str, float], after: Mapping[str, float]) -> Counter[str]:
    names = before.keys() | after.keys()
    changed = [name for name in names if before.get(name) != after.get(name)]
    up = sum(after.get(name, 0.0) > before.get(name, 0.0) for name in changed)
    return Counter({"figures": len(names), "moved": len(changed), "up": up})
