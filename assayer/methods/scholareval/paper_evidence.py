"""Prepare evidence from a paper for prompts: abstract, matching passages, and sections on methods and results."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assayer.citing.evidence import Evidence, ShownPlace
from assayer.models import FullText, Paper, PaperId, Passage, Section, TextFlag
from assayer.run.run import Run
from assayer.text.sanitise import sanitise
from assayer.text.section_titles import names_methods_or_results
from assayer.text.sentences import sentence_spans

_MAX_TITLE_CHARS = 300
MIN_EXCERPT_CHARS = 80
"""Minimum length of an excerpt beyond the abstract, in characters; a shorter one is usually only a heading."""


def build_evidence(
    papers: Sequence[Paper],
    run: Run,
    limit_chars: int,
    nearness: Mapping[PaperId, float],
    passages: Mapping[PaperId, Sequence[Passage]] | None = None,
    full_texts: Mapping[PaperId, FullText] | None = None,
    whole_abstracts: bool = True,
) -> list[Evidence]:
    """Return one evidence item per paper, labelled in order. Its text consists of the abstract (all of it, or only its
    statements about the paper's own work), then matching passages, then methods and results."""
    items = []
    for number, paper in enumerate(papers, start=1):
        full_text = (full_texts or {}).get(paper.id)
        matched_passages = (passages or {}).get(paper.id, ())
        text, places, flags = _sanitise_blocks(
            _list_text_blocks(paper, matched_passages, full_text, whole_abstracts), limit_chars * 2
        )
        text = _truncate(text, limit_chars)
        run.journal.record_if_suspicious(paper, (*flags, *(full_text.flags if full_text else ())))
        run.journal.read.add(paper.id)
        has_passages = any(item.section not in ("title", "abstract") for item in matched_passages)
        has_more = full_text is not None or has_passages
        # The cut may have removed everything beyond the abstract.
        beyond_abstract = has_more and len(places) > 1 and len(text) > places[1].start + MIN_EXCERPT_CHARS
        if beyond_abstract:
            run.journal.full_texts.add(paper.id)
            # Passages come from an index of current texts, which may be newer than the cutoff.
            if run.cutoff and not (full_text is not None and full_text.within_window and not has_passages):
                run.journal.undated_texts[paper.id] = "full text"
        items.append(
            Evidence(
                label=f"P{number}",
                paper_id=paper.id,
                title=format_title(paper),
                year=paper.year,
                text=text,
                places=places,
                full_text=beyond_abstract,
                similarity=nearness.get(paper.id),
            )
        )
    return items


def _truncate(text: str, max_chars: int) -> str:
    """Truncate a text to at most `max_chars` characters, ending with a whole word."""
    return text if len(text) <= max_chars else text[:max_chars].rsplit(maxsplit=1)[0]


def format_title(paper: Paper, max_chars: int = _MAX_TITLE_CHARS) -> str:
    """Return the paper's title, sanitised, on one line, and cut to `max_chars` characters."""
    return " ".join(sanitise(paper.title)[0].split())[:max_chars]


def group_passages_by_paper(passages: Iterable[Passage]) -> dict[PaperId, list[Passage]]:
    """Group the passages by paper, without duplicates."""
    passages_of: dict[PaperId, dict[Passage, None]] = {}
    for passage in passages:
        passages_of.setdefault(passage.paper.id, {})[passage] = None
    return {paper: list(of_paper) for paper, of_paper in passages_of.items()}


class _Block(NamedTuple):
    """A span of a paper's text as shown in the prompt."""

    place: str
    text: str
    headed: bool = False
    """Whether the place is shown as the block's heading."""


def _sanitise_blocks(blocks: Iterable[_Block], max_chars: int) -> tuple[str, tuple[ShownPlace, ...], list[TextFlag]]:
    """Return about `max_chars` characters of sanitised text in paragraphs, the start of each block, and the flags
    raised."""
    text, places, flags = "", list[ShownPlace](), list[TextFlag]()
    for block in blocks:
        if len(text) >= max_chars:
            break
        body, body_flags = sanitise(block.text.strip()[: max_chars - len(text)])
        heading, about_heading = sanitise(block.place)
        flags += (*body_flags, *about_heading)
        text += "\n\n" if text else ""
        places.append(ShownPlace(start=len(text), name=" ".join(heading.split())))
        text += f"{heading}\n\n{body}" if block.headed else body
    return text, tuple(places), flags


_OWN_WORK = re.compile(
    r"\b(?:we|our|us|this (?:paper|work|study|article|survey|thesis|report)|"
    r"(?:present|current) (?:paper|work|study))\b",
    re.IGNORECASE,
)
_MIN_OWN_SHARE = 0.35
"""Minimum share of an abstract that must remain when its opening is removed."""


def extract_own_work(abstract: str) -> str:
    """Return the abstract without the general sentences before the first one about the paper's own work. Returns the
    whole abstract if there is no such sentence, or if too little would remain."""
    for start, end in sentence_spans(abstract):
        if _OWN_WORK.search(abstract, start, end):
            own_work = abstract[start:].strip()
            return own_work if len(own_work) >= _MIN_OWN_SHARE * len(abstract) else abstract
    return abstract


def _list_text_blocks(
    paper: Paper, passages: Iterable[Passage], full_text: FullText | None, whole_abstract: bool
) -> list[_Block]:
    abstract = paper.abstract.strip() if whole_abstract else extract_own_work(paper.abstract.strip())
    blocks = [_Block("abstract", abstract) if abstract else _Block("title", paper.title)]
    blocks += [
        _Block(passage.section or "passage", passage.text, headed=bool(passage.section))
        for passage in passages
        if passage.text.strip() not in paper.abstract and passage.section != "title"
    ]
    block_text = "\n".join(block.text.strip() for block in blocks)
    if full_text is not None:
        blocks += [
            _Block(section.title or "full text", section.text, headed=bool(section.title))
            for section in select_methods_and_results(full_text.sections)
            if section.text.strip() not in block_text
        ]
    return blocks


def select_methods_and_results(sections: Iterable[Section]) -> list[Section]:
    """Return the sections on methods or results, in reading order; section numbers are ignored. If no section matches,
    all are returned."""
    sections_with_text = [section for section in sections if section.text.strip()]
    wanted_sections = [section for section in sections_with_text if names_methods_or_results(section.title)]
    return wanted_sections or sections_with_text
