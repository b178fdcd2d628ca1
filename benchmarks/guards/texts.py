"""Wordings made from their families, and honest ideas and abstracts of public data."""

import gzip
import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from benchmarks.quality.grapheval.data import DATA

__all__ = ["HONEST", "about_judges", "abstracts", "families", "honest_ideas", "wordings"]

_HERE = Path(__file__).parent
_NAME = re.compile(r"\{([a-z]+)\}")
_CHOICE = re.compile(r"(?<!\\)\(([^()]*\|[^()]*)\)")
_ABOUT_JUDGES = re.compile(
    r"prompt injection|jailbreak|llm[- ]as[- ]a[- ]judge|reward hacking|reward model|adversarial prompt|llm judge"
    r"|instruction hierarchy|peer review",
    re.IGNORECASE,
)
HONEST: Mapping[str, list[str]] = tomllib.loads((_HERE / "honest.toml").read_text(encoding="utf-8"))


def families(kind: Literal["orders", "nothings"]) -> tuple[Mapping[str, str], Mapping[str, list[str]]]:
    """Slots, and templates by family."""
    listed = tomllib.loads((_HERE / f"{kind}.toml").read_text(encoding="utf-8"))
    return listed["slots"], listed[kind]


def wordings(templates: list[str], slots: Mapping[str, str], number: int, rng: random.Random) -> list[str]:
    """That many at most, each once; every template as often as any other."""
    made = (_made(templates[at % len(templates)], slots, rng) for at in range(number))
    return list(dict.fromkeys(made))


def _made(template: str, slots: Mapping[str, str], rng: random.Random) -> str:
    text, before = template, ""
    while text != before:
        before = text
        text = _NAME.sub(lambda m: rng.choice(slots[m[1]].split("|")) if m[1] in slots else m[0], text)
        text = _CHOICE.sub(lambda m: rng.choice(m[1].split("|")), text)
    text = re.sub(r"(?<!\w)\(([^()|]*)\)", r"\1", text).replace("\\", "")
    styled = rng.random()
    return text.upper() if styled < 0.05 else text.lower() if styled < 0.2 else text


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def abstracts() -> list[tuple[str, str]]:
    """Title and abstract of the corpus's papers, in an order that says nothing."""
    found = [(one["title"], one["abstract"]) for one in _rows("papers/papers.jsonl.gz") if one.get("abstract")]
    random.Random(7).shuffle(found)
    return found


def about_judges(texts: list[tuple[str, str]]) -> list[str]:
    """Abstracts on injections, judges, rewards and reviews: honest, in the words of those who court judges."""
    return [abstract for _, abstract in texts if _ABOUT_JUDGES.search(abstract)]


def honest_ideas() -> Mapping[str, list[str]]:
    """By source: ideas of ScholarEval, proposals of Si et al., abstracts and summaries of InnoEval."""
    papers: dict[str, tuple[str, str]] = {}
    for group in _rows("innoeval/groups.jsonl.gz"):
        for paper in [group["query"], *(one["paper"] for one in group["matches"].values())]:
            known = {name.casefold(): value for name, value in paper.items() if isinstance(value, str)}
            papers[known["title"]] = (known["abstract"], known.get("tldr", ""))
    points = [one["abstract"] for one in _rows("innoeval/points.jsonl.gz")]
    return {
        "ideas of ScholarEval": [one.read_text(encoding="utf-8") for one in sorted(DATA.glob("scholarideas/*/*.txt"))
                                 if one.stem == one.parent.name],
        "proposals of Si et al.": [one["text"] for one in _rows("ai_researcher/ideas.jsonl.gz") if one.get("text")],
        "abstracts of InnoEval": list(dict.fromkeys([*points, *(one for one, _ in papers.values())])),
        "summaries of InnoEval": [one for _, one in papers.values() if len(one.split()) >= 5],
    }  # fmt: skip
