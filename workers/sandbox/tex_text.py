"""Read a TeX document's text: headings, paragraphs, formulas, tables and notes, in source order.

Runs in the sandboxed process. The arguments of unknown macros are read as text, so that no words are lost."""

import re
from collections.abc import Sequence
from typing import Any

from pylatexenc import latexwalker
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.macrospec import EnvironmentSpec, MacroSpec

from assayer.text.raised_text import Script
from workers.sandbox.apacite import APACITE_ARGUMENT_COUNTS, format_apacite
from workers.sandbox.office_text import BODY, OfficeParagraphs
from workers.sandbox.tex_citations import TexCitations
from workers.sandbox.tex_math import find_symbol, format_math
from workers.sandbox.tex_source import TexSource
from workers.sandbox.tex_vocabulary import (
    ABSTRACT_HEADINGS,
    AUTHOR_NOTE_MACROS,
    BIBLIOGRAPHY_ENVIRONMENTS,
    CITATION_MACROS,
    DRAWING_ENVIRONMENTS,
    ENVIRONMENT_ARGUMENTS,
    FORMULA_ENVIRONMENTS,
    FRONT_MATTER_MACROS,
    HEADING_LEVELS,
    HIDDEN_MACROS,
    IGNORED_MACROS,
    LINK_MACROS,
    LIST_ENVIRONMENTS,
    PRINTED_TEXTS,
    QUOTE_MACROS,
    REFERENCE_MACROS,
    STATEMENT_ENVIRONMENTS,
    TABLE_ENVIRONMENTS,
    TITLE_MACROS,
)

_ONLY_SPACES = re.compile(r"[ \t\n]+")
_AUTHOR = re.compile(r"\\author\s*[\[{]")
_SECOND_ARGUMENT_MACROS = ("bibinfo", "bibfield", "Eprint", "foreignlanguage", "BIBforeignlanguage")
"""Macros that print only their second argument."""
_SCRIPTS: dict[str, Script] = {"textsuperscript": "^", "textsubscript": "_"}
_SCRIPT_FORMULA = re.compile(r"(?P<script>[_^])(?:\((?P<group>[^()]*)\)|(?P<plain>[^()\s]+))")
"""Formula that is only a superscript or subscript of the word before it, as in `CO$_2$`."""
_MAX_DEPTH = 80


def _build_context() -> Any:
    context = latexwalker.get_default_latex_context_db()
    macros = [MacroSpec(name, "*[{") for name in HEADING_LEVELS]
    macros += [
        MacroSpec(name, "[{")
        for name in (*FRONT_MATTER_MACROS, *TITLE_MACROS, "caption", "footnote", *AUTHOR_NOTE_MACROS)
    ]
    macros += [MacroSpec(name, "*[[{") for name in CITATION_MACROS]
    macros += [MacroSpec(name, arguments) for name, arguments in IGNORED_MACROS.items()]
    macros += [MacroSpec(name, "*{") for name in (*REFERENCE_MACROS, *HIDDEN_MACROS, *LINK_MACROS, *_SCRIPTS)]
    macros += [*(MacroSpec(name, "{{") for name in _SECOND_ARGUMENT_MACROS)]
    macros += [MacroSpec("textcolor", "[{{"), MacroSpec("href", "{{"), MacroSpec("footnotetext", "[{")]
    macros += [MacroSpec(name, arguments) for name, arguments in QUOTE_MACROS.items()]
    macros += [MacroSpec(name, "{" * count) for name, count in APACITE_ARGUMENT_COUNTS.items()]
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
        self._context = _build_context()
        self._mark = ""
        """Mark of the list item that is about to begin."""
        self._quote_depth = 0
        self._unread: dict[str, int] = {}
        self._depth = 0

    def _parse_nodes(self, source: str) -> Sequence[Any]:
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
        for node in self._parse_nodes(source):
            if isinstance(node, latexwalker.LatexMacroNode) and node.macroname in (*TITLE_MACROS, *FRONT_MATTER_MACROS):
                self._read_macro(node)
            elif isinstance(node, latexwalker.LatexEnvironmentNode):
                self._read_environment(node)

    def read_body(self, source: str) -> None:
        self._read(self._parse_nodes(source))
        self._end_paragraph()
        for part, count in self._unread.items():
            self.text.left_out.append((f"{count} {part}{'s' * (count > 1)}", "no text"))

    def _read(self, nodes: Sequence[Any] | None) -> None:
        if nodes is None or self._depth > _MAX_DEPTH:
            return
        self._depth += 1
        for index, node in enumerate(nodes):
            match node:
                case latexwalker.LatexCharsNode():
                    self._add_characters(node.chars)
                case latexwalker.LatexGroupNode() if _is_white(node.nodelist):
                    self.text.hide("in the background colour", self._read_plain(node.nodelist))
                case latexwalker.LatexGroupNode():
                    self._read(node.nodelist)
                case latexwalker.LatexMathNode() if node.displaytype == "display":
                    self._add_formula(node.nodelist)
                case latexwalker.LatexMathNode():
                    self._add_inline_formula(format_math(node.nodelist))
                case latexwalker.LatexSpecialsNode():
                    self._add_specials(node.specials_chars)
                case latexwalker.LatexEnvironmentNode():
                    self._read_environment(node)
                case latexwalker.LatexMacroNode():
                    self._read_macro(node)
                    self._add_space_after(node, nodes[index + 1 : index + 2])
        self._depth -= 1

    def _add_characters(self, characters: str) -> None:
        for number, part in enumerate(re.split(r"\n[ \t]*\n\s*", characters)):
            if number:
                self._end_paragraph()
            self.text.add(_ONLY_SPACES.sub(" ", part).replace("---", "—").replace("--", "–"))

    def _add_specials(self, characters: str) -> None:
        if "\n" in characters:
            self._end_paragraph()
        else:
            signs = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "&": " | ", "!`": "¡", "?`": "¿"}
            self.text.add(signs.get(characters, characters))

    def _add_space_after(self, node: Any, following: Sequence[Any]) -> None:
        """Add the space after a macro that prints a word. TeX drops this space, and `\\\\xspace` would restore."""
        if not node.macro_post_space or _list_arguments(node) or find_symbol(node.macroname) is not None:
            return
        if following and isinstance(following[0], latexwalker.LatexCharsNode) and following[0].chars[:1].isalnum():
            self.text.add(" ")

    def _end_paragraph(self, level: int = BODY) -> None:
        self.text.end_paragraph(level, self._mark if level == BODY else "")
        if level == BODY:
            self._mark = ""

    def _read_plain(self, nodes: Sequence[Any] | None) -> str:
        """Return nodes as text on one line, without adding it to the document. Notes and hidden text in them are
        added."""
        separate_text = self._read_separately(nodes)
        self.text.add_from_part(separate_text)
        return " ".join(text for _, text in separate_text.paragraphs)

    def _read_separately(self, nodes: Sequence[Any] | None) -> OfficeParagraphs:
        outer_text, self.text = self.text, OfficeParagraphs(self.text.characters_left)
        mark, self._mark = self._mark, ""
        self._read(nodes)
        self._end_paragraph()
        separate_text, self.text, self._mark = self.text, outer_text, mark
        return separate_text

    def _add_inline_formula(self, formula: str) -> None:
        match = _SCRIPT_FORMULA.fullmatch(formula)
        if match is None:
            self.text.add(formula)
        else:
            self.text.add(match["group"] or match["plain"] or "", script="^" if match["script"] == "^" else "_")

    def _add_formula(self, nodes: Sequence[Any]) -> None:
        """Add a displayed formula within its paragraph, because the sentence continues after it."""
        self.text.add(f" {format_math(nodes)} ")

    def _read_macro(self, node: Any) -> None:  # noqa: PLR0912 - one case for each kind of macro
        name, arguments = node.macroname.rstrip("*"), _list_arguments(node)
        last_argument = arguments[-1] if arguments else None
        match name:
            case _ if name in HEADING_LEVELS:
                self._end_paragraph()
                self.text.add(self._read_plain(last_argument))
                self._end_paragraph(HEADING_LEVELS[name])
            case _ if name in TITLE_MACROS:
                self.text.title = self.text.title or self._read_plain(last_argument)
            case _ if name in FRONT_MATTER_MACROS:
                self.text.front_matter.append((name, self._read_plain(last_argument)))
            case _ if name in CITATION_MACROS:
                keys = self._read_plain(last_argument).split(",")
                other_arguments = [self._read_plain(argument) for argument in arguments[:-1]]
                self.text.add(self._citations.format_mark(name, keys, other_arguments))
            case "nocite":
                self._citations.format_mark(name, self._read_plain(last_argument).replace("*", "").split(","), ())
            case "footnote" | "footnotetext":
                if number := self.text.add_note(self._read_separately(last_argument)):
                    self.text.add(f"[^{number}]")
            case _ if name in AUTHOR_NOTE_MACROS:
                self.text.left_out.append(
                    (f"the note {self._read_plain(last_argument)[:60]!r}", f"\\{name} is a note to the authors")
                )
            case "textcolor" if arguments and self._read_plain(arguments[-2]).strip().lower() == "white":
                self.text.hide("in the background colour", self._read_plain(last_argument))
            case _ if name in HIDDEN_MACROS:
                self.text.hide("marked as hidden", self._read_plain(last_argument))
            case _ if name in ("textcolor", "captionof", *_SECOND_ARGUMENT_MACROS):
                self._read(last_argument)
            case "href":
                self._add_link(arguments)
            case "caption":
                self._end_paragraph()
                self._read(last_argument)
                self._end_paragraph()
            case "item":
                self._begin_item(last_argument)
            case "par" | "newpage" | "clearpage" | "maketitle" | "bigskip" | "medskip":
                self._end_paragraph()
            case "\\" | "newline" | "tabularnewline" | "linebreak":
                self.text.end_line()
            case "and":
                self.text.add(", ")
            case "includegraphics":
                self._count_unread("picture")
            case _ if name in REFERENCE_MACROS:
                self.text.add(self._read_plain(last_argument))
            case _ if name in IGNORED_MACROS or name == "bibitem":
                pass
            case _:
                self._read_other_macro(node, arguments)

    def _add_link(self, arguments: Sequence[Sequence[Any]]) -> None:
        address, label = (self._read_plain(arguments[index] if arguments else None) for index in (0, -1))
        self.text.add(label if address in label or label in address else f"{label} ({address})")

    def _add_quote(self, quoted: Sequence[Any] | None) -> None:
        opening, closing = "‘’" if self._quote_depth % 2 else "“”"
        self._quote_depth += 1
        self.text.add(opening)
        self._read(quoted)
        self.text.add(closing)
        self._quote_depth -= 1

    def _read_other_macro(self, node: Any, arguments: Sequence[Sequence[Any]]) -> None:
        """Add the character that a macro prints, or its arguments."""
        name, symbol = node.macroname.rstrip("*"), find_symbol(node.macroname)
        if name in QUOTE_MACROS:
            self._add_quote(arguments[-1] if arguments else None)
        elif name in APACITE_ARGUMENT_COUNTS:
            self.text.add(format_apacite(name, [self._read_plain(argument) for argument in arguments]))
        elif name in PRINTED_TEXTS and not arguments:
            self.text.add(PRINTED_TEXTS[name])
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

    def _begin_item(self, label: Sequence[Any] | None) -> None:
        self._end_paragraph()
        label_text = self._read_plain(label).strip()
        self._mark = "- "
        if label_text and label_text not in "-–—•*·":
            self.text.add(f"{label_text} ")

    def _read_environment(self, node: Any) -> None:
        name = node.environmentname.rstrip("*")
        if name in ABSTRACT_HEADINGS:
            self._end_paragraph()
            self.text.add(ABSTRACT_HEADINGS[name])
            self._end_paragraph(HEADING_LEVELS["section"])
            self._read(node.nodelist)
        elif name in FORMULA_ENVIRONMENTS:
            self._add_formula(node.nodelist)
            return
        elif name == "verbatim":
            self._end_paragraph()
            self.text.add(node.latex_verbatim().split("\n", 1)[-1].rsplit("\\end", 1)[0])
        elif name in DRAWING_ENVIRONMENTS:
            self._count_unread("drawing")
        elif name in TABLE_ENVIRONMENTS:
            self._read_table(node.nodelist)
        elif name in BIBLIOGRAPHY_ENVIRONMENTS:
            self._end_paragraph()
            for entry in self._citations.read_printed_entries(node.nodelist, self._read_plain):
                self.text.reference_lines.append(entry)
        else:
            self._read_block(name, node)
        self._end_paragraph()

    def _read_block(self, name: str, node: Any) -> None:
        outer_mark = self._mark
        if name in LIST_ENVIRONMENTS:
            self._end_paragraph()
            self._mark = ""
        elif name not in ("center", "document", "small", "frontmatter"):
            self._end_paragraph()
        if name in STATEMENT_ENVIRONMENTS:
            self.text.add(f"{name.capitalize()}. ")
        self._read(node.nodelist)
        if name in LIST_ENVIRONMENTS:
            self._end_paragraph()
            self._mark = ""
        elif name in STATEMENT_ENVIRONMENTS:
            self._mark = outer_mark

    def _read_table(self, nodes: Sequence[Any]) -> None:
        """Add a table, with one line per row."""
        self._end_paragraph()
        self.text.tables += 1
        rows = [""]
        cell: list[Any] = []

        def end_cell(separator: str) -> None:
            rows[-1] += self._read_plain(cell) + separator
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
                self._end_paragraph()

    def _count_unread(self, part: str) -> None:
        self._unread[part] = self._unread.get(part, 0) + 1


def _list_arguments(node: Any) -> list[Sequence[Any]]:
    """Return the nodes of each argument that is present, without stars."""
    nodes = node.nodeargd.argnlist if node.nodeargd is not None and node.nodeargd.argnlist else []
    argument_nodes = (
        item.nodelist if isinstance(item, latexwalker.LatexGroupNode) else [item] for item in nodes if item is not None
    )
    return [nodes for nodes in argument_nodes if not (len(nodes) == 1 and getattr(nodes[0], "chars", "") == "*")]


def _is_white(nodes: Sequence[Any]) -> bool:
    """Return whether a group begins with `\\\\color{white}`."""
    for node in nodes[:2]:
        if isinstance(node, latexwalker.LatexMacroNode) and node.macroname == "color":
            return any(
                getattr(item, "chars", "").strip().lower() == "white"
                for nodes in _list_arguments(node)
                for item in nodes
            )
    return False
