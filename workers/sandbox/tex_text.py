"""Read a TeX document's text: headings, paragraphs, formulas, tables and notes, in source order.

Runs in the sandboxed process. The arguments of unknown macros are read as text, so that no words are lost."""

import re
from collections.abc import Sequence
from typing import Any

from pylatexenc import latexwalker
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.macrospec import EnvironmentSpec, MacroSpec

from assayer.text.raised_text import Script
from workers.sandbox.apacite import APACITE, format_apacite
from workers.sandbox.office_text import BODY, OfficeParagraphs
from workers.sandbox.tex_citations import TexCitations
from workers.sandbox.tex_math import math_text, symbol_of
from workers.sandbox.tex_source import TexSource
from workers.sandbox.tex_vocabulary import (
    ABSTRACTS,
    BIBLIOGRAPHIES,
    CITATION_MACROS,
    DRAWINGS,
    ENVIRONMENT_ARGUMENTS,
    FORMULAS,
    FRONT,
    HIDDEN,
    IGNORED,
    LEVELS,
    LINKS,
    LISTS,
    NOTES_TO_AUTHORS,
    PRINTED,
    QUOTES,
    REFERENCES,
    STATEMENTS,
    TABLES,
    TITLES,
)

_ONLY_SPACES = re.compile(r"[ \t\n]+")
_AUTHOR = re.compile(r"\\author\s*[\[{]")
_SECOND_ARGUMENT = ("bibinfo", "bibfield", "Eprint", "foreignlanguage", "BIBforeignlanguage")
"""Macros that print only their second argument."""
_SCRIPTS: dict[str, Script] = {"textsuperscript": "^", "textsubscript": "_"}
_RAISED_MATHS = re.compile(r"(?P<script>[_^])(?:\((?P<group>[^()]*)\)|(?P<plain>[^()\s]+))")
"""Formula that is only a superscript or subscript of the word before it, as in `CO$_2$`."""
_MAX_DEPTH = 80


def _context() -> Any:
    context = latexwalker.get_default_latex_context_db()
    macros = [MacroSpec(name, "*[{") for name in LEVELS]
    macros += [MacroSpec(name, "[{") for name in (*FRONT, *TITLES, "caption", "footnote", *NOTES_TO_AUTHORS)]
    macros += [MacroSpec(name, "*[[{") for name in CITATION_MACROS]
    macros += [MacroSpec(name, arguments) for name, arguments in IGNORED.items()]
    macros += [MacroSpec(name, "*{") for name in (*REFERENCES, *HIDDEN, *LINKS, *_SCRIPTS)]
    macros += [*(MacroSpec(name, "{{") for name in _SECOND_ARGUMENT)]
    macros += [MacroSpec("textcolor", "[{{"), MacroSpec("href", "{{"), MacroSpec("footnotetext", "[{")]
    macros += [MacroSpec(name, arguments) for name, arguments in QUOTES.items()]
    macros += [MacroSpec(name, "{" * count) for name, count in APACITE.items()]
    macros += [MacroSpec("texorpdfstring", "{{"), MacroSpec("ce", "{")]
    macros += [MacroSpec("captionof", "{{"), MacroSpec("bibitem", "[{"), MacroSpec("item", "[")]
    environments = [EnvironmentSpec(name, arguments) for name, arguments in ENVIRONMENT_ARGUMENTS.items()]
    context.add_context_category("assayer", macros=macros, environments=environments, prepend=True)
    return context


def read_tex(source: TexSource, citations: TexCitations, most_characters: int) -> OfficeParagraphs:
    """Read a TeX document. Raises Refused if it cannot be read."""
    reader = _TexReader(citations, most_characters)
    reader.read_preamble(source.preamble)
    reader.read_body(source.body)
    return reader.text


class _TexReader:
    def __init__(self, citations: TexCitations, most_characters: int) -> None:
        self.text = OfficeParagraphs(most_characters)
        self._citations = citations
        self._context = _context()
        self._mark = ""
        """Mark of the list item that is about to begin."""
        self._quote_depth = 0
        self._unread: dict[str, int] = {}
        self._depth = 0

    def _nodes(self, source: str) -> Sequence[Any]:
        walker = latexwalker.LatexWalker(source, latex_context=self._context, tolerant_parsing=True)
        try:
            return list(walker.get_latex_nodes()[0])
        except (latexwalker.LatexWalkerError, IndexError, KeyError, TypeError, ValueError, AttributeError):
            self.text.left_out.append(
                ("the structure of the document", "its TeX cannot be parsed; only its words are read")
            )
            words = re.sub(r"\\[a-zA-Z@]+\*?|\\.|[{}$]", " ", source)
            return [latexwalker.LatexCharsNode(chars=words)]

    def read_preamble(self, source: str) -> None:
        """Read the title and the author fields. The rest of the preamble only defines the layout."""
        self._read_fields(source)
        # Layout definitions can break parsing before the authors are reached.
        if (authors := _AUTHOR.search(source)) and "author" not in dict(self.text.front_matter):
            self._read_fields(source[authors.start() :])

    def _read_fields(self, source: str) -> None:
        for node in self._nodes(source):
            if isinstance(node, latexwalker.LatexMacroNode) and node.macroname in (*TITLES, *FRONT):
                self._macro(node)
            elif isinstance(node, latexwalker.LatexEnvironmentNode):
                self._environment(node)

    def read_body(self, source: str) -> None:
        self._read(self._nodes(source))
        self._end()
        for what, count in self._unread.items():
            self.text.left_out.append((f"{count} {what}{'s' * (count > 1)}", "no text"))

    def _read(self, nodes: Sequence[Any] | None) -> None:
        if nodes is None or self._depth > _MAX_DEPTH:
            return
        self._depth += 1
        for place, node in enumerate(nodes):
            match node:
                case latexwalker.LatexCharsNode():
                    self._chars(node.chars)
                case latexwalker.LatexGroupNode() if _is_white(node.nodelist):
                    self.text.hide("in the background colour", self._read_plain(node.nodelist))
                case latexwalker.LatexGroupNode():
                    self._read(node.nodelist)
                case latexwalker.LatexMathNode() if node.displaytype == "display":
                    self._formula(node.nodelist)
                case latexwalker.LatexMathNode():
                    self._inline_formula(math_text(node.nodelist))
                case latexwalker.LatexSpecialsNode():
                    self._specials(node.specials_chars)
                case latexwalker.LatexEnvironmentNode():
                    self._environment(node)
                case latexwalker.LatexMacroNode():
                    self._macro(node)
                    self._space_after(node, nodes[place + 1 : place + 2])
        self._depth -= 1

    def _chars(self, characters: str) -> None:
        for number, part in enumerate(re.split(r"\n[ \t]*\n\s*", characters)):
            if number:
                self._end()
            self.text.add(_ONLY_SPACES.sub(" ", part).replace("---", "—").replace("--", "–"))

    def _specials(self, characters: str) -> None:
        if "\n" in characters:
            self._end()
        else:
            signs = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "&": " | ", "!`": "¡", "?`": "¿"}
            self.text.add(signs.get(characters, characters))

    def _space_after(self, node: Any, following: Sequence[Any]) -> None:
        """Add the space after a macro that prints a word. TeX drops this space, and `\\\\xspace` would restore."""
        if not node.macro_post_space or _arguments(node) or symbol_of(node.macroname) is not None:
            return
        if following and isinstance(following[0], latexwalker.LatexCharsNode) and following[0].chars[:1].isalnum():
            self.text.add(" ")

    def _end(self, level: int = BODY) -> None:
        self.text.end_paragraph(level, self._mark if level == BODY else "")
        if level == BODY:
            self._mark = ""

    def _read_plain(self, nodes: Sequence[Any] | None) -> str:
        """Return nodes as text on one line, without adding it to the document. Notes and hidden text in them are
        added."""
        separate_text = self._read_separately(nodes)
        self.text.take_rest(separate_text)
        return " ".join(text for _, text in separate_text.paragraphs)

    def _read_separately(self, nodes: Sequence[Any] | None) -> OfficeParagraphs:
        outer_text, self.text = self.text, OfficeParagraphs(self.text.characters_left)
        mark, self._mark = self._mark, ""
        self._read(nodes)
        self._end()
        separate_text, self.text, self._mark = self.text, outer_text, mark
        return separate_text

    def _inline_formula(self, formula: str) -> None:
        match = _RAISED_MATHS.fullmatch(formula)
        if match is None:
            self.text.add(formula)
        else:
            self.text.add(match["group"] or match["plain"] or "", script="^" if match["script"] == "^" else "_")

    def _formula(self, nodes: Sequence[Any]) -> None:
        """Add a displayed formula within its paragraph, because the sentence continues after it."""
        self.text.add(f" {math_text(nodes)} ")

    def _macro(self, node: Any) -> None:  # noqa: PLR0912 - one case for each kind of macro
        name, arguments = node.macroname.rstrip("*"), _arguments(node)
        last_argument = arguments[-1] if arguments else None
        match name:
            case _ if name in LEVELS:
                self._end()
                self.text.add(self._read_plain(last_argument))
                self._end(LEVELS[name])
            case _ if name in TITLES:
                self.text.title = self.text.title or self._read_plain(last_argument)
            case _ if name in FRONT:
                self.text.front_matter.append((name, self._read_plain(last_argument)))
            case _ if name in CITATION_MACROS:
                keys = self._read_plain(last_argument).split(",")
                other_arguments = [self._read_plain(argument) for argument in arguments[:-1]]
                self.text.add(self._citations.mark(name, keys, other_arguments))
            case "nocite":
                self._citations.mark(name, self._read_plain(last_argument).replace("*", "").split(","), ())
            case "footnote" | "footnotetext":
                if number := self.text.add_note(self._read_separately(last_argument)):
                    self.text.add(f"[^{number}]")
            case _ if name in NOTES_TO_AUTHORS:
                self.text.left_out.append(
                    (f"the note {self._read_plain(last_argument)[:60]!r}", f"\\{name} is a note to the authors")
                )
            case "textcolor" if arguments and self._read_plain(arguments[-2]).strip().lower() == "white":
                self.text.hide("in the background colour", self._read_plain(last_argument))
            case _ if name in HIDDEN:
                self.text.hide("marked as hidden", self._read_plain(last_argument))
            case _ if name in ("textcolor", "captionof", *_SECOND_ARGUMENT):
                self._read(last_argument)
            case "href":
                self._link(arguments)
            case "caption":
                self._end()
                self._read(last_argument)
                self._end()
            case "item":
                self._item(last_argument)
            case "par" | "newpage" | "clearpage" | "maketitle" | "bigskip" | "medskip":
                self._end()
            case "\\" | "newline" | "tabularnewline" | "linebreak":
                self.text.end_line()
            case "and":
                self.text.add(", ")
            case "includegraphics":
                self._count("picture")
            case _ if name in REFERENCES:
                self.text.add(self._read_plain(last_argument))
            case _ if name in IGNORED or name == "bibitem":
                pass
            case _:
                self._read_other_macro(node, arguments)

    def _link(self, arguments: Sequence[Sequence[Any]]) -> None:
        address, label = (self._read_plain(arguments[place] if arguments else None) for place in (0, -1))
        self.text.add(label if address in label or label in address else f"{label} ({address})")

    def _quote(self, quoted: Sequence[Any] | None) -> None:
        opening, closing = "‘’" if self._quote_depth % 2 else "“”"
        self._quote_depth += 1
        self.text.add(opening)
        self._read(quoted)
        self.text.add(closing)
        self._quote_depth -= 1

    def _read_other_macro(self, node: Any, arguments: Sequence[Sequence[Any]]) -> None:
        """Add the character that a macro prints, or its arguments."""
        name, symbol = node.macroname.rstrip("*"), symbol_of(node.macroname)
        if name in QUOTES:
            self._quote(arguments[-1] if arguments else None)
        elif name in APACITE:
            self.text.add(format_apacite(name, [self._read_plain(argument) for argument in arguments]))
        elif name in PRINTED and not arguments:
            self.text.add(PRINTED[name])
        elif name == "texorpdfstring" and arguments:
            self._read(arguments[0])
        elif symbol is not None and not arguments:
            self.text.add(symbol)
        elif node.macroname in "'`^\"~=.cvuHkrbd" and arguments:
            self.text.add(LatexNodes2Text().nodelist_to_text([node]))
        elif node.macroname in _SCRIPTS and arguments:
            self.text.add(self._read_plain(arguments[-1]), script=_SCRIPTS[node.macroname])
        elif node.macroname in ("LaTeX", "TeX", "BibTeX", "LaTeXe"):
            self.text.add(node.macroname)
        elif not node.macroname.isalpha():
            self.text.add(node.macroname if node.macroname in "%&_#${}" else " ")
        else:
            for argument in arguments:
                self._read(argument)

    def _item(self, label: Sequence[Any] | None) -> None:
        self._end()
        shown = self._read_plain(label).strip()
        self._mark = "- "
        if shown and shown not in "-–—•*·":
            self.text.add(f"{shown} ")

    def _environment(self, node: Any) -> None:
        name = node.environmentname.rstrip("*")
        if name in ABSTRACTS:
            self._end()
            self.text.add(ABSTRACTS[name])
            self._end(LEVELS["section"])
            self._read(node.nodelist)
        elif name in FORMULAS:
            self._formula(node.nodelist)
            return
        elif name == "verbatim":
            self._end()
            self.text.add(node.latex_verbatim().split("\n", 1)[-1].rsplit("\\end", 1)[0])
        elif name in DRAWINGS:
            self._count("drawing")
        elif name in TABLES:
            self._read_table(node.nodelist)
        elif name in BIBLIOGRAPHIES:
            self._end()
            for entry in self._citations.printed_entries(node.nodelist, self._read_plain):
                self.text.reference_lines.append(entry)
        else:
            self._block(name, node)
        self._end()

    def _block(self, name: str, node: Any) -> None:
        outer = self._mark
        if name in LISTS:
            self._end()
            self._mark = ""
        elif name not in ("center", "document", "small", "frontmatter"):
            self._end()
        if name in STATEMENTS:
            self.text.add(f"{name.capitalize()}. ")
        self._read(node.nodelist)
        if name in LISTS:
            self._end()
            self._mark = ""
        elif name in STATEMENTS:
            self._mark = outer

    def _read_table(self, nodes: Sequence[Any]) -> None:
        """Add a table, with one line per row."""
        self._end()
        self.text.tables += 1
        rows = [""]
        cell: list[Any] = []

        def end_cell(between: str) -> None:
            rows[-1] += self._read_plain(cell) + between
            cell.clear()

        for node in nodes:
            if isinstance(node, latexwalker.LatexSpecialsNode) and node.specials_chars == "&":
                end_cell(" | ")
            elif isinstance(node, latexwalker.LatexMacroNode) and node.macroname in ("\\", "tabularnewline"):
                end_cell("")
                rows.append("")
            elif not (
                isinstance(node, latexwalker.LatexMacroNode) and node.macroname.endswith(("rule", "hline", "cline"))
            ):
                cell.append(node)
        end_cell("")
        for row in rows:
            if row.strip(" |"):
                self.text.add(row)
                self._end()

    def _count(self, what: str) -> None:
        self._unread[what] = self._unread.get(what, 0) + 1


def _arguments(node: Any) -> list[Sequence[Any]]:
    """Return the nodes of each argument that is present, without stars."""
    nodes = node.nodeargd.argnlist if node.nodeargd is not None and node.nodeargd.argnlist else []
    found = (
        item.nodelist if isinstance(item, latexwalker.LatexGroupNode) else [item] for item in nodes if item is not None
    )
    return [nodes for nodes in found if not (len(nodes) == 1 and getattr(nodes[0], "chars", "") == "*")]


def _is_white(nodes: Sequence[Any]) -> bool:
    """Return whether a group begins with `\\\\color{white}`."""
    for node in nodes[:2]:
        if isinstance(node, latexwalker.LatexMacroNode) and node.macroname == "color":
            return any(
                getattr(item, "chars", "").strip().lower() == "white" for nodes in _arguments(node) for item in nodes
            )
    return False
