"""Convert TeX formulas to one line, in the notation that people type: `(a+b)/c`, `x_i^2`, `sqrt(n)`, `α = 0.05`.

Runs in the sandboxed process."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from pylatexenc import latexwalker
from pylatexenc.latex2text import get_default_latex_context_db

from workers.sandbox.formula_text import SIGNED_NUMBER

_FRACTION_MACROS = ("frac", "dfrac", "tfrac", "cfrac", "sfrac", "nicefrac")
_ACCENTS = {
    "hat": "hat", "widehat": "hat", "tilde": "tilde", "widetilde": "tilde", "bar": "bar", "overline": "bar",
    "vec": "vec", "dot": "dot", "ddot": "ddot",
}  # fmt: skip
_CONTENT_MACROS = frozenset(
    {
        "text", "mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "mathbb", "mathfrak", "mathscr",
        "boldsymbol", "bm", "operatorname", "textbf", "textit", "textrm", "mbox", "hbox", "underline", "mathop",
        "ensuremath", "overbrace", "underbrace", "boxed", "pmb", "textsc", "emph", "substack", "mathbin", "mathrel",
    }
)  # fmt: skip
_SPACE_MACROS = {
    ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "quad": " ", "qquad": " ", "\\": "; ", "left": "", "right": "",
    "big": "", "Big": "", "bigg": "", "Bigg": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "middle": "",
    "displaystyle": "", "textstyle": "", "limits": "", "nolimits": "", "nonumber": "", "notag": "", "label": "",
    "tag": "", "{": "{", "}": "}", "%": "%", "&": "&", "_": "_", "#": "#", "$": "$", "|": "‖", "hline": "", "dots": "…",
    "ldots": "…", "cdots": "⋯", "enspace": " ", "thinspace": " ", "hspace": " ", "hfill": " ", "rm": "", "bf": "",
    "it": "", "mid": " | ", "colon": ":", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "middle|": "|",
    "mathstrut": "", "strut": "", "scriptstyle": "", "allowbreak": "", "smallskip": "", "centering": "",
}  # fmt: skip
_UNPRINTED_MACROS = ("label", "tag", "hspace", "vspace", "phantom", "hphantom", "vphantom", "color")
_MATRIX_ENVIRONMENTS = ("matrix", "pmatrix", "bmatrix", "vmatrix", "Bmatrix", "Vmatrix", "smallmatrix", "array")
_MAX_DEPTH = 60


@cache
def _load_symbols() -> Any:
    return get_default_latex_context_db()


def find_symbol(name: str) -> str | None:
    """Return the character that a macro without arguments prints; None if it prints none."""
    spec = _load_symbols().get_macro_spec(name)
    replacement = getattr(spec, "simplify_repl", None)
    return replacement if isinstance(replacement, str) and "%" not in replacement and len(replacement) <= 8 else None


def format_math(nodes: Sequence[Any]) -> str:
    """Return a formula as text on one line."""
    return " ".join(_join_nodes(nodes, 0).split())


def _join_nodes(nodes: Sequence[Any] | None, depth: int) -> str:
    if nodes is None or depth > _MAX_DEPTH:
        return ""
    pieces: list[str] = []
    pending_sign = ""
    is_after_word = False
    items = _split_text_nodes(nodes)
    for item in items:
        if isinstance(item, str):
            if item in "_^" or item.isspace():
                pending_sign = item if item in "_^" else pending_sign
                if not item.isspace() or not pending_sign:
                    pieces.append(item)
                continue
            text = item
        else:
            text = _format_node(item, items, depth)
        if pending_sign:
            text, pending_sign = text if SIGNED_NUMBER.fullmatch(text) else _enclose_group(text), ""
        elif (
            text[:1].isalpha() and pieces and pieces[-1][-1:].isalpha() and (is_after_word or not isinstance(item, str))
        ):
            text = f" {text}"
        is_after_word = not isinstance(item, str) and len(text.strip()) > 1
        pieces.append(text)
    return "".join(pieces)


def _split_text_nodes(nodes: Sequence[Any]) -> Iterator[Any]:
    """Yield the nodes, with text nodes split, so that the argument of an index, an exponent or a macro is the next
    character."""
    for node in nodes:
        if not isinstance(node, latexwalker.LatexCharsNode):
            if node is not None:
                yield node
            continue
        characters_left = node.chars
        while characters_left:
            position = min(
                (index for index in (characters_left.find("_"), characters_left.find("^")) if index >= 0), default=-1
            )
            if position < 0:
                yield from (
                    (characters_left[:1], characters_left[1:]) if len(characters_left) > 1 else (characters_left,)
                )
                break
            if position:
                yield from (
                    (characters_left[:1], characters_left[1:position]) if position > 1 else (characters_left[:1],)
                )
            yield characters_left[position]
            characters_left = characters_left[position + 1 :]


def _format_node(node: Any, next_nodes: Iterator[Any], depth: int) -> str:
    if isinstance(node, latexwalker.LatexGroupNode | latexwalker.LatexMathNode):
        return _join_nodes(node.nodelist, depth + 1)
    if isinstance(node, latexwalker.LatexEnvironmentNode):
        content = _join_nodes(node.nodelist, depth + 1).strip("; ")
        return f"[{content}]" if node.environmentname.rstrip("*") in _MATRIX_ENVIRONMENTS else content
    if isinstance(node, latexwalker.LatexSpecialsNode):
        return str({"&": " ", "~": " "}.get(node.specials_chars, node.specials_chars))
    if isinstance(node, latexwalker.LatexMacroNode):
        return _format_macro(node, next_nodes, depth)
    return ""


def _format_macro(node: Any, next_nodes: Iterator[Any], depth: int) -> str:
    name = node.macroname
    arguments = _format_arguments(node, depth)
    if name in _FRACTION_MACROS or name in ("binom", "sqrt", "stackrel", "overset", "underset"):
        required = arguments or [_take_next(next_nodes, depth) for _ in range(1 if name == "sqrt" else 2)]
        return _format_construction(name, node, required, depth)
    if name in _ACCENTS:
        return f"{_ACCENTS[name]}({(arguments or [_take_next(next_nodes, depth)])[-1]})"
    if name in _UNPRINTED_MACROS:
        return ""
    if name in _SPACE_MACROS:
        return _SPACE_MACROS[name]
    symbol = find_symbol(name)
    if name in _CONTENT_MACROS or (arguments and not symbol):
        return " ".join(arguments) if arguments else ""
    return (symbol or name) + "".join(arguments) + (" " if symbol is None else "")


def _format_construction(name: str, node: Any, arguments: list[str], depth: int) -> str:
    last_argument = arguments[-1]
    first_argument = arguments[-2] if len(arguments) > 1 else ""
    if name == "sqrt":
        return f"root({first_argument}, {last_argument})" if first_argument else f"sqrt({last_argument})"
    if name == "binom":
        return f"binom({first_argument}, {last_argument})"
    if name in _FRACTION_MACROS:
        return f"{_enclose_group(first_argument)}/{_enclose_group(last_argument)}"
    return f"{_enclose_group(last_argument)}^{_enclose_group(first_argument)}"


def _take_next(next_nodes: Iterator[Any], depth: int) -> str:
    """Take the formula's next item as text. It is the argument of a macro that has no braces."""
    item = next(next_nodes, "")
    while isinstance(item, str) and item.isspace():
        item = next(next_nodes, "")
    return item if isinstance(item, str) else _format_node(item, next_nodes, depth + 1)


def _format_arguments(node: Any, depth: int) -> list[str]:
    nodes = node.nodeargd.argnlist if node.nodeargd is not None and node.nodeargd.argnlist else []
    texts = (_join_nodes(_get_inner_nodes(item), depth + 1).strip() for item in nodes if item is not None)
    return [text for text in texts if text != "*"]


def _get_inner_nodes(item: Any) -> Sequence[Any]:
    return item.nodelist if isinstance(item, latexwalker.LatexGroupNode) else [item]


def _enclose_group(text: str) -> str:
    """Enclose the text in parentheses, unless it is a single number, letter or word, or is already enclosed in them."""
    text = text.strip()
    if (
        len(text) <= 1
        or text.isalpha()
        or text.isdecimal()
        or (text.startswith("(") and text.find(")") == len(text) - 1)
    ):
        return text
    return f"({text})"
