r"""Macros of biblatex that cite several works, each with notes: `\parencites(see)[3]{a}{b}`.

Runs in the sandboxed process."""

import re

from workers.sandbox.tex_groups import read_groups, read_option

_MACRO = re.compile(
    r"\\(?P<name>(?:[Pp]aren|[Tt]ext|[Aa]uto|[Ff]oot|[Ss]mart|[Ss]uper|[Ff]ull|footfull|)[Cc]ites)\*?(?![a-zA-Z])"
)
_NOTE = re.compile(r"\s*\(([^()]{0,400})\)")
_MAX_WORKS = 100


def expand_citation_lists(source: str) -> str:
    """Return a source with each macro that cites several works as macros that cite one each."""
    pieces: list[str] = []
    consumed = 0
    for match in _MACRO.finditer(source):
        if match.start() < consumed:
            continue
        notes: list[str] = []
        position = match.end()
        while len(notes) < 2 and (note := _NOTE.match(source, position)):
            notes.append(note[1])
            position = note.end()
        citations: list[str] = []
        while len(citations) < _MAX_WORKS:
            prenote, start = read_option(source, position)
            postnote, start = read_option(source, start)
            groups = read_groups(source, start, 1)
            if groups is None or (citations and source[position : position + 2].strip(" ") == ""):
                break
            options = "".join(f"[{option}]" for option in (prenote, postnote) if option is not None)
            citations.append(f"\\{match['name'].removesuffix('s')}{options}{{{groups.texts[0]}}}")
            position = groups.end
        if citations:
            list_prenote, list_postnote = (
                (notes[0], notes[1]) if len(notes) > 1 else ("", "") if not notes else (notes[0], "")
            )
            joined_citations = ", ".join(citations)
            pieces += [
                source[consumed : match.start()],
                f"{list_prenote} {joined_citations}".strip(),
                f", {list_postnote}" if list_postnote else "",
            ]
            consumed = position
    return "".join([*pieces, source[consumed:]])
