"""`python -m benchmarks.masking`: planted words that pass blind mode, and what it masks in honest texts.

Needs no language model; the ideas are those of ScholarIdeas and AI-Researcher, beside the checkout. About a minute.
"""

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator

from assayer.blinding.blind import RULES, blinded
from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from benchmarks.masking.forms import FORMS
from benchmarks.masking.planting import PlantedWord, plant_form
from benchmarks.masking.words import POOLS
from benchmarks.quality.grapheval.data import DATA

_TEXTS_OF_A_GROUP = 200
_FEWEST_OF_A_FORM = 8


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.masking", description=__doc__)
    parser.add_argument("--pool", choices=POOLS, default="C", help="names, institutions and grants to draw from")
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 11, 13])
    parser.add_argument("--show", action="store_true", help="name what survived")
    options = parser.parse_args()
    ideas = list(real_ideas())
    print(f"Rules {RULES}, {len(ideas)} ideas, pool {options.pool}, seeds {options.seeds}.\n")
    for group in FORMS:
        words = [word for seed in options.seeds for word in _planted(ideas, group, options.pool, seed)]
        print("\n".join([*_table(group, words), ""]))
        if options.show:
            print("\n".join(f"{one.form}: {one.kind} {one.word}" for one in words if one.survived))
    print("\n".join(_honest(ideas)))


def real_ideas() -> Iterator[Idea]:
    for path in sorted((DATA / "scholarideas").glob("*/*.txt")):
        if path.name != "cutoff.txt":
            yield parse_idea(path.read_text("utf-8"), path.stem)
    with gzip.open(DATA / "ai_researcher" / "ideas.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield parse_idea(record["text"], record["id"], record["title"])


def _planted(ideas: list[Idea], group: str, pool: str, seed: int) -> Iterator[PlantedWord]:
    draw = random.Random(seed)
    forms = FORMS[group]
    for form in forms:
        chosen = draw.sample(ideas, max(_FEWEST_OF_A_FORM, _TEXTS_OF_A_GROUP // len(forms)))
        yield from plant_form(form, chosen, POOLS[pool], draw)


def _table(group: str, words: list[PlantedWord]) -> Iterator[str]:
    planted = Counter(word.kind for word in words)
    survived = Counter(word.kind for word in words if word.survived)
    yield f"| {group} forms | planted | survived |\n|:--|--:|--:|"
    for kind, number in planted.most_common():
        yield f"| {kind} | {number:,} | {survived[kind]} ({survived[kind] / number:.1%}) |"


def _honest(ideas: list[Idea]) -> Iterator[str]:
    records = {idea.source: blinded(idea).blinding for idea in ideas}
    masked = {source: record.masked for source, record in records.items() if record is not None and record.masked}
    yield f"Honest ideas: {sum(one.times for words in masked.values() for one in words)} places in {len(masked)}."
    for source, words in masked.items():
        yield f"{source}: " + "; ".join(f"{one.kind} {one.text!r}" for one in words)


if __name__ == "__main__":
    main()
