"""Proposals made from real papers' reference lists, with planted invented works, wrong years and names, longer titles.

Real entries are written as people write them: in six styles, with initials, `et al.`, a preprint's year, a misprint, a
missing subtitle, and lines broken at 80 columns.
"""

import random
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from benchmarks.records import read_records

Kind = Literal[
    "real", "written otherwise", "invented", "wrong year", "wrong first author", "added author", "longer title"
]
Style = Literal["numbered", "author-year", "quoted", "title first", "medical", "bullets"]
STYLES: tuple[Style, ...] = ("numbered", "author-year", "quoted", "title first", "medical", "bullets")
_SHORTEST, _LONGEST = 12, 30
"""Limits on the number of a proposal's entries before any are planted."""
_COLUMNS = 80
_YEAR = re.compile(r" ?(?:19|20)\d\d")
"""Removed from venues, since an entry with two years would contradict itself instead of the record."""


class Work(NamedTuple):
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str


class Planted(NamedTuple):
    """An entry of the list, and how it was planted."""

    kind: Kind
    work: Work


class Proposal(NamedTuple):
    idea: Idea
    style: Style
    entries: tuple[Planted, ...]


def corpus_works(data: Path) -> dict[str, Work]:
    """Return the corpus works by id, without those that lack authors or year."""
    return {
        record["id"]: Work(
            record["title"], tuple(record["authors"]), record["year"], _YEAR.sub("", record["venue"]).strip()
        )
        for record in read_records(data / "papers" / "papers.jsonl.gz")
        if record["authors"] and record["year"]
    }


def proposals(data: Path, works: Mapping[str, Work], count: int, seed: int) -> list[Proposal]:
    """Make proposals from randomly drawn papers that cite enough of the corpus, with styles in rotation."""
    lot = random.Random(seed)
    texts = {record["id"]: record for record in read_records(data / "citations_ml" / "papers.jsonl.gz")}
    lists = {
        record["id"]: [name for name in record["in_corpus"] if name in works]
        for record in read_records(data / "citations_ml" / "references.jsonl.gz")
        if record["id"] in texts
    }
    citing_papers = sorted(name for name, cited in lists.items() if len(cited) >= _SHORTEST)
    all_works = list(works.values())
    return [
        _proposal(texts[name], [works[item] for item in lists[name]], all_works, STYLES[place % len(STYLES)], lot)
        for place, name in enumerate(lot.sample(citing_papers, count))
    ]


def _proposal(
    paper: Mapping[str, Any], cited_works: Sequence[Work], all_works: Sequence[Work], style: Style, lot: random.Random
) -> Proposal:
    shuffled_works = list(cited_works)
    lot.shuffle(shuffled_works)
    shuffled_works = shuffled_works[:_LONGEST]
    tenth = max(1, round(len(shuffled_works) / 10))
    planted = [Planted("wrong year", _misdated(item, lot)) for item in shuffled_works[:tenth]]
    planted += [
        Planted("wrong first author", _misattributed(item, all_works, lot))
        for item in shuffled_works[tenth : 2 * tenth]
    ]
    planted += [
        Planted("longer title", _lengthened(item, all_works, lot)) for item in shuffled_works[2 * tenth : 3 * tenth]
    ]
    remaining_works = shuffled_works[3 * tenth :]
    if style != "title first":  # this style names only the first author
        planted += [Planted("added author", _joined_by(item, all_works, lot)) for item in remaining_works[:tenth]]
        remaining_works = remaining_works[tenth:]
    planted += [
        Planted("written otherwise", _otherwise(item, lot)) for item in remaining_works[: len(remaining_works) // 2]
    ]
    planted += [Planted("real", item) for item in remaining_works[len(remaining_works) // 2 :]]
    planted += [Planted("invented", _invented(all_works, lot)) for _ in range(tenth)]
    lot.shuffle(planted)
    list_text = "\n".join(_entry(number, item.work, style, lot) for number, item in enumerate(planted, 1))
    problem = f"{paper['abstract']}\n\nWe build on earlier work [1, 2] and test it [3–5]."
    text = f"# {paper['title']}\n\n## Problem\n\n{problem}\n\n## References\n\n{list_text}\n"
    return Proposal(parse_idea(text, paper["id"]), style, tuple(planted))


def _misdated(work: Work, lot: random.Random) -> Work:
    return work._replace(year=work.year + lot.choice((-1, 1)) * lot.randint(2, 6))


def _misattributed(work: Work, all_works: Sequence[Work], lot: random.Random) -> Work:
    other_author = lot.choice(all_works).authors[0]
    return work._replace(authors=(other_author, *work.authors[1:]))


def _lengthened(work: Work, all_works: Sequence[Work], lot: random.Random) -> Work:
    """Return the work with a longer title, like a sequel: `Attention is all you need for video generation`."""
    return work._replace(title=f"{work.title} for {' '.join(lot.choice(all_works).title.split()[-2:])}")


def _joined_by(work: Work, all_works: Sequence[Work], lot: random.Random) -> Work:
    """Return the work with its first author and one author of another work, so that both are printed."""
    return work._replace(authors=(work.authors[0], lot.choice(all_works).authors[0]))


def _otherwise(work: Work, lot: random.Random) -> Work:
    """Return the work in a variant that people write when they cite it."""
    title, _, subtitle = work.title.partition(": ")
    match lot.randrange(4):
        case 0:
            return work._replace(year=work.year - 1)
        case 1 if subtitle and len(title.split()) >= 3:
            return work._replace(title=title)
        case 2:
            return work._replace(title=_misprinted(work.title, lot))
        case _:
            return work._replace(title=work.title.title())


def _misprinted(title: str, lot: random.Random) -> str:
    """Return the title with one letter missing."""
    places = [match.start() for match in re.finditer(r"(?<=[a-z]{3})[a-z](?=[a-z])", title)]
    place = lot.choice(places) if places else 0
    return title[:place] + title[place + 1 :]


def _invented(all_works: Sequence[Work], lot: random.Random) -> Work:
    """Invent a work from the first words of one real title, the last words of another, real authors and a year."""
    first, second = lot.choice(all_works).title.split(), lot.choice(all_works).title.split()
    title = " ".join([*first[: max(2, len(first) // 2)], *second[-max(2, len(second) // 2) :]])
    people = lot.choice(all_works)
    return Work(title, people.authors[:3], lot.randint(2014, 2024), people.venue)


def _entry(number: int, work: Work, style: Style, lot: random.Random) -> str:
    authors, year = _people(work.authors, style, lot), work.year
    match style:
        case "numbered":
            text = f"[{number}] {authors}. {work.title}. In {work.venue}, {year}."
        case "author-year":
            text = f"{authors} ({year}). {work.title}. {work.venue}."
        case "quoted":
            text = f"[{number}] {authors}, “{work.title},” in {work.venue}, {year}, pp. 1–{lot.randint(9, 20)}."
        case "title first":
            return f"{number}. {work.title} ({work.authors[0].split()[-1]} et al., {year})"
        case "medical":
            text = f"{number}. {authors}. {work.title}. {work.venue}. {year};{lot.randint(1, 40)}:{lot.randint(1, 99)}."
        case "bullets":
            return f"- {authors}. **{work.title}**. *{work.venue}*, {year}."
    return "\n".join(textwrap.wrap(text, _COLUMNS, subsequent_indent="    ", break_on_hyphens=False))


def _people(authors: Sequence[str], style: Style, lot: random.Random) -> str:
    named_authors, et_al = (authors[:1], " et al") if len(authors) > 3 and lot.random() < 0.4 else (authors[:6], "")
    names = [name.split() for name in named_authors]
    if style == "author-year":
        formatted_names = [
            f"{item[-1]}, {' '.join(f'{part[0]}.' for part in item[:-1])}".rstrip(", ") for item in names
        ]
    elif style == "quoted":
        formatted_names = [" ".join([*(f"{part[0]}." for part in item[:-1]), item[-1]]) for item in names]
    elif style == "medical":
        formatted_names = [f"{item[-1]} {''.join(part[0] for part in item[:-1])}".strip() for item in names]
    else:
        formatted_names = [" ".join(item) for item in names]
    if et_al:
        return f"{formatted_names[0]}{et_al}" + "." * (style in ("author-year", "quoted"))
    last = " and " if style not in ("medical", "author-year") else ", & " if style == "author-year" else ", "
    return (
        last.join([", ".join(formatted_names[:-1]), formatted_names[-1]])
        if len(formatted_names) > 1
        else formatted_names[0]
    )
