"""Number a TeX document's citations, and find the cited works in `.bib` or `.bbl` files or in its own reference list.

Runs in the sandboxed process."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pylatexenc import latexwalker

from assayer.models import CitedWork
from assayer.reference_lists.bibtex import read_bibtex
from assayer.reference_lists.entry_parser import parse_references

_MACROS_WITH_NAMES = (
    "citet", "textcite", "citeauthor", "Citet", "Textcite", "citealt", "citefullauthor", "citeA", "Citeauthor",
    "shortciteA", "fullciteA", "citeasnoun", "possessivecite", "citepos", "citeonline",
)  # fmt: skip
_PRINTED_FIELDS = {
    "citeyear": "year",
    "citeyearpar": "year",
    "citedate": "year",
    "citetitle": "title",
    "Citetitle": "title",
}
"""Field of the cited work that a macro prints instead of a mark."""
_LETTERS = re.compile(r"[^\W\d_]{2}")
_OLD_ARXIV = re.compile(r"(?<![\w/])[a-z]{2,8}-[a-z]{2,4}/\d{7}(?!\d)")
_GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_BIBITEM = re.compile(rf"\\bibitem\s*(?:\[(?P<label>(?:[^\[\]{{}}]|{_GROUP})*)\])?\s*\{{(?P<key>[^{{}}]*)\}}")
_BIBLATEX = re.compile(r"\\entry\{(?P<key>[^{}]+)\}\{[^{}]*\}\{[^{}]*\}(?P<body>.*?)\\endentry", re.DOTALL)
_BIBLATEX_FIELD = re.compile(
    r"\\field\{(\w+)\}\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|\\verb\{(\w+)\}\s*\\verb (.*?)\s*\\endverb"
)
_BIBLATEX_SPACE = re.compile(r"\\bibnamedelim[a-i]\s*")
_BIBLATEX_NAMES = re.compile(r"\\name\{author\}.*?\n(.*?)(?=\n\s*\\(?:strng|field|list|name|verb))", re.DOTALL)
_BIBLATEX_NAME = re.compile(r"family=\{((?:[^{}]|\{[^{}]*\})*)\}(?:.*?given=\{((?:[^{}]|\{[^{}]*\})*)\})?", re.DOTALL)


class TexCitations:
    """Works that a document can cite, and the numbers of the works that it does cite."""

    def __init__(self, bibtex: Sequence[str], lists: Sequence[str]) -> None:
        """Read the works. `bibtex` are the contents of `.bib` files; `lists` are those of `.bbl` files and the
        document's source."""
        self.works: dict[str, CitedWork] = {}
        self.unparsed_entries: list[str] = []
        self._numbers: dict[str, int] = {}
        self._labels: dict[str, str] = {}
        for text in bibtex:
            entries = read_bibtex(text)
            self.works.update((key, work) for key, work in entries.works.items() if key not in self.works)
            self.unparsed_entries += entries.unparsed_entries
        for text in lists:
            self._read_list(text)

    def _read_list(self, text: str) -> None:
        for match in _BIBLATEX.finditer(text):
            self.works.setdefault(match["key"].strip(), _parse_biblatex_work(match["body"]))
        for match in _BIBITEM.finditer(text):
            key = match["key"].strip()
            self.assign_number(key)
            label = re.sub(r"[{}]", "", (match["label"] or "").partition("(")[0]).replace("~", " ").strip()
            if label and not label.isdecimal():
                self._labels.setdefault(key, label)

    def assign_number(self, key: str) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def format_mark(self, macro: str, keys: Sequence[str], notes: Sequence[str]) -> str:
        """Return the mark that a citation prints: `[3]`, `[3, 5, p. 7]` or, with names, `Lee et al. [3]`."""
        cited_keys = [key.strip() for key in keys if key.strip()]
        if not cited_keys:
            return ""
        if (field := _PRINTED_FIELDS.get(macro)) and (work := self.works.get(cited_keys[0])):
            self.assign_number(cited_keys[0])
            value = str(getattr(work, field) or "")
            return f"({value})" if value and macro == "citeyearpar" else value
        prenote = notes[0] if len(notes) > 1 else ""
        postnote = notes[-1] if notes else ""
        numbers = ", ".join(str(self.assign_number(key)) for key in cited_keys)
        mark = f"[{numbers}{f', {postnote}' if postnote.strip() else ''}]"
        names = self._format_names(cited_keys[0]) if macro in _MACROS_WITH_NAMES and len(cited_keys) == 1 else ""
        return " ".join(filter(None, (prenote.strip(), names, mark)))

    def _format_names(self, key: str) -> str:
        if key in self._labels:
            return self._labels[key]
        work = self.works.get(key)
        families = [name.split()[-1] for name in work.authors if name.split()] if work else []
        if len(families) > 2:
            return f"{families[0]} et al."
        return " and ".join(families)

    def list_cited_works(self, *, include_uncited: bool) -> list[CitedWork]:
        """Return the cited works by number, followed by the other works if all count as cited."""
        if include_uncited:
            for key in self.works:
                self.assign_number(key)
        ordered_numbers = sorted(self._numbers.items(), key=lambda item: item[1])
        return [
            self.works[key].model_copy(update={"number": number})
            for key, number in ordered_numbers
            if key in self.works
        ]

    def list_unknown_keys(self, printed_entries: int) -> list[str]:
        """Return the cited keys that have no entry; empty if the document has its own reference list, with a number
        of `printed_entries`."""
        return [] if printed_entries else [key for key in self._numbers if key not in self.works]

    def read_printed_entries(self, nodes: Sequence[Any], format_nodes: Callable[[Sequence[Any]], str]) -> Iterator[str]:
        """Yield the entries of a printed list, each with its number. An entry also becomes a work if no `.bib` file has
        it."""
        key, entry = "", list[Any]()
        for node in [*nodes, None]:
            if node is None or _is_macro(node, "bibitem"):
                if key and (text := format_nodes(entry)):
                    printed_text = f"[{self.assign_number(key)}] {text}"
                    blocks = [format_nodes(block) for block in _split_blocks(entry)]
                    work = _parse_printed_work(printed_text, blocks)
                    if marked_title := next((format_nodes([node]) for node in _find_title_nodes(entry)), ""):
                        work = work.model_copy(update={"title": marked_title.rstrip("., ")})
                    self.works.setdefault(key, work)
                    yield printed_text
                key, entry = _get_key(node) if node is not None else "", []
            else:
                entry.append(node)


def _is_macro(node: Any, name: str) -> bool:
    return isinstance(node, latexwalker.LatexMacroNode) and node.macroname == name


def _find_title_nodes(nodes: Sequence[Any]) -> Iterator[Any]:
    """Yield the nodes that a style marks as a title: `\\bibinfo{title}{…}`."""
    for node in nodes:
        arguments = [item for item in getattr(getattr(node, "nodeargd", None), "argnlist", None) or () if item]
        if _is_macro(node, "bibinfo") and arguments[0].latex_verbatim().strip("{} ") == "title":
            yield arguments[-1]
        else:
            yield from _find_title_nodes([*arguments, *(getattr(node, "nodelist", None) or ())])


def _split_blocks(entry: Sequence[Any]) -> list[list[Any]]:
    blocks: list[list[Any]] = [[]]
    for node in entry:
        if _is_macro(node, "newblock"):
            blocks.append([])
        else:
            blocks[-1].append(node)
    return blocks


def _parse_printed_work(printed_text: str, blocks: Sequence[str]) -> CitedWork:
    """Parse a printed entry into a work. If BibTeX marked blocks in the entry, the second block is the title, or the
    third if the second is the date."""
    parsed = next(iter(parse_references(printed_text)), CitedWork())
    blocks_with_words = (block for block in blocks[1:] if _LETTERS.search(block))
    title = next(blocks_with_words, parsed.title).rstrip("., ")
    old_arxiv = _OLD_ARXIV.search(printed_text)
    arxiv = parsed.arxiv or (old_arxiv[0] if old_arxiv else "")
    return parsed.model_copy(update={"title": title, "arxiv": arxiv, "raw": printed_text, "number": None})


def _get_key(node: Any) -> str:
    group = node.nodeargd.argnlist[-1] if node.nodeargd and node.nodeargd.argnlist else None
    return "".join(getattr(item, "chars", "") for item in getattr(group, "nodelist", [])).strip()


def _parse_biblatex_work(body: str) -> CitedWork:
    """Parse an entry in a biblatex `.bbl` file into a work."""
    fields: Mapping[str, str] = {
        name or verb: value or verbatim for name, value, verb, verbatim in _BIBLATEX_FIELD.findall(body)
    }
    names = _BIBLATEX_NAMES.search(_BIBLATEX_SPACE.sub(" ", body))
    authors = [f"{given} {family}".strip() for family, given in _BIBLATEX_NAME.findall(names[1])] if names else []
    lines = (f"{name} = {{{value}}}" for name, value in fields.items())
    entry = f"@misc{{key, author = {{{' and '.join(authors)}}}, {', '.join(lines)}}}"
    return next(iter(read_bibtex(entry).works.values()), CitedWork())
