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
_MIN_ENTRIES, _MAX_ENTRIES = 12, 30
"""Limits on the number of a proposal's entries before any are planted."""
_COLUMNS = 80
_YEAR = re.compile(r" ?(?:19|20)\d\d")
"""Removed from venues, since an entry with two years would contradict itself instead of the record."""


class Work(NamedTuple):
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str


class PlantedEntry(NamedTuple):
    """An entry of the list, and how it was planted."""

    kind: Kind
    work: Work


class Proposal(NamedTuple):
    idea: Idea
    style: Style
    entries: tuple[PlantedEntry, ...]


def read_works(data: Path) -> dict[str, Work]:
    """Return the corpus works by id, without those that lack authors or year."""
    return {
        record["id"]: Work(
            record["title"], tuple(record["authors"]), record["year"], _YEAR.sub("", record["venue"]).strip()
        )
        for record in read_records(data / "papers" / "papers.jsonl.gz")
        if record["authors"] and record["year"]
    }


def make_proposals(data: Path, works: Mapping[str, Work], count: int, seed: int) -> list[Proposal]:
    """Make proposals from randomly drawn papers that cite enough of the corpus, with styles in rotation."""
    rng = random.Random(seed)
    texts = {record["id"]: record for record in read_records(data / "citations_ml" / "papers.jsonl.gz")}
    cited_ids = {
        record["id"]: [name for name in record["in_corpus"] if name in works]
        for record in read_records(data / "citations_ml" / "references.jsonl.gz")
        if record["id"] in texts
    }
    citing_papers = sorted(name for name, ids in cited_ids.items() if len(ids) >= _MIN_ENTRIES)
    all_works = list(works.values())
    return [
        _make_proposal(
            texts[name], [works[cited_id] for cited_id in cited_ids[name]], all_works, STYLES[number % len(STYLES)], rng
        )
        for number, name in enumerate(rng.sample(citing_papers, count))
    ]


def _make_proposal(
    paper: Mapping[str, Any], cited_works: Sequence[Work], all_works: Sequence[Work], style: Style, rng: random.Random
) -> Proposal:
    shuffled_works = list(cited_works)
    rng.shuffle(shuffled_works)
    shuffled_works = shuffled_works[:_MAX_ENTRIES]
    tenth_count = max(1, round(len(shuffled_works) / 10))
    planted_entries = [PlantedEntry("wrong year", _change_year(work, rng)) for work in shuffled_works[:tenth_count]]
    planted_entries += [
        PlantedEntry("wrong first author", _change_author(work, all_works, rng))
        for work in shuffled_works[tenth_count : 2 * tenth_count]
    ]
    planted_entries += [
        PlantedEntry("longer title", _lengthen_title(work, all_works, rng))
        for work in shuffled_works[2 * tenth_count : 3 * tenth_count]
    ]
    remaining_works = shuffled_works[3 * tenth_count :]
    if style != "title first":  # this style names only the first author
        planted_entries += [
            PlantedEntry("added author", _add_author(work, all_works, rng)) for work in remaining_works[:tenth_count]
        ]
        remaining_works = remaining_works[tenth_count:]
    planted_entries += [
        PlantedEntry("written otherwise", _vary_work(work, rng))
        for work in remaining_works[: len(remaining_works) // 2]
    ]
    planted_entries += [PlantedEntry("real", work) for work in remaining_works[len(remaining_works) // 2 :]]
    planted_entries += [PlantedEntry("invented", _invent_work(all_works, rng)) for _ in range(tenth_count)]
    rng.shuffle(planted_entries)
    list_text = "\n".join(
        _format_entry(number, entry.work, style, rng) for number, entry in enumerate(planted_entries, 1)
    )
    problem = f"{paper['abstract']}\n\nWe build on earlier work [1, 2] and test it [3–5]."
    text = f"# {paper['title']}\n\n## Problem\n\n{problem}\n\n## References\n\n{list_text}\n"
    return Proposal(parse_idea(text, paper["id"]), style, tuple(planted_entries))


def _change_year(work: Work, rng: random.Random) -> Work:
    return work._replace(year=work.year + rng.choice((-1, 1)) * rng.randint(2, 6))


def _change_author(work: Work, all_works: Sequence[Work], rng: random.Random) -> Work:
    other_author = rng.choice(all_works).authors[0]
    return work._replace(authors=(other_author, *work.authors[1:]))


def _lengthen_title(work: Work, all_works: Sequence[Work], rng: random.Random) -> Work:
    """Return the work with a longer title, like a sequel: `Attention is all you need for video generation`."""
    return work._replace(title=f"{work.title} for {' '.join(rng.choice(all_works).title.split()[-2:])}")


def _add_author(work: Work, all_works: Sequence[Work], rng: random.Random) -> Work:
    """Return the work with its first author and one author of another work, so that both are printed."""
    return work._replace(authors=(work.authors[0], rng.choice(all_works).authors[0]))


def _vary_work(work: Work, rng: random.Random) -> Work:
    """Return the work in a variant that people write when they cite it."""
    title, _, subtitle = work.title.partition(": ")
    match rng.randrange(4):
        case 0:
            return work._replace(year=work.year - 1)
        case 1 if subtitle and len(title.split()) >= 3:
            return work._replace(title=title)
        case 2:
            return work._replace(title=_misprint(work.title, rng))
        case _:
            return work._replace(title=work.title.title())


def _misprint(title: str, rng: random.Random) -> str:
    """Return the title with one letter missing."""
    positions = [match.start() for match in re.finditer(r"(?<=[a-z]{3})[a-z](?=[a-z])", title)]
    position = rng.choice(positions) if positions else 0
    return title[:position] + title[position + 1 :]


def _invent_work(all_works: Sequence[Work], rng: random.Random) -> Work:
    """Invent a work from the first words of one real title, the last words of another, real authors and a year."""
    first, second = rng.choice(all_works).title.split(), rng.choice(all_works).title.split()
    title = " ".join([*first[: max(2, len(first) // 2)], *second[-max(2, len(second) // 2) :]])
    other_work = rng.choice(all_works)
    return Work(title, other_work.authors[:3], rng.randint(2014, 2024), other_work.venue)


def _format_entry(number: int, work: Work, style: Style, rng: random.Random) -> str:
    authors, year = _format_authors(work.authors, style, rng), work.year
    match style:
        case "numbered":
            text = f"[{number}] {authors}. {work.title}. In {work.venue}, {year}."
        case "author-year":
            text = f"{authors} ({year}). {work.title}. {work.venue}."
        case "quoted":
            text = f"[{number}] {authors}, “{work.title},” in {work.venue}, {year}, pp. 1–{rng.randint(9, 20)}."
        case "title first":
            return f"{number}. {work.title} ({work.authors[0].split()[-1]} et al., {year})"
        case "medical":
            text = f"{number}. {authors}. {work.title}. {work.venue}. {year};{rng.randint(1, 40)}:{rng.randint(1, 99)}."
        case "bullets":
            return f"- {authors}. **{work.title}**. *{work.venue}*, {year}."
    return "\n".join(textwrap.wrap(text, _COLUMNS, subsequent_indent="    ", break_on_hyphens=False))


def _format_authors(authors: Sequence[str], style: Style, rng: random.Random) -> str:
    named_authors, et_al = (authors[:1], " et al") if len(authors) > 3 and rng.random() < 0.4 else (authors[:6], "")
    names = [name.split() for name in named_authors]
    if style == "author-year":
        formatted_names = [
            f"{name_parts[-1]}, {' '.join(f'{part[0]}.' for part in name_parts[:-1])}".rstrip(", ")
            for name_parts in names
        ]
    elif style == "quoted":
        formatted_names = [
            " ".join([*(f"{part[0]}." for part in name_parts[:-1]), name_parts[-1]]) for name_parts in names
        ]
    elif style == "medical":
        formatted_names = [
            f"{name_parts[-1]} {''.join(part[0] for part in name_parts[:-1])}".strip() for name_parts in names
        ]
    else:
        formatted_names = [" ".join(name_parts) for name_parts in names]
    if et_al:
        return f"{formatted_names[0]}{et_al}" + "." * (style in ("author-year", "quoted"))
    last = " and " if style not in ("medical", "author-year") else ", & " if style == "author-year" else ", "
    return (
        last.join([", ".join(formatted_names[:-1]), formatted_names[-1]])
        if len(formatted_names) > 1
        else formatted_names[0]
    )
