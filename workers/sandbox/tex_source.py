"""Join a TeX document's files into one source, without comments and with the document's own macros expanded.

Runs in the sandboxed process. Included files are looked up only among the document's own files."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assayer.text.tex import escape_tex
from workers.sandbox.tex_acronyms import Acronyms, expand_acronyms, take_acronyms
from workers.sandbox.tex_citation_lists import expand_citation_lists
from workers.sandbox.tex_groups import find_group_end, read_option, skip_spaces
from workers.sandbox.tex_units import expand_units, read_declared_units
from workers.sandbox.tex_vocabulary import (
    CITATION_MACROS,
    FRONT_MATTER_MACROS,
    HEADING_LEVELS,
    IGNORED_MACROS,
    LINK_MACROS,
    REFERENCE_MACROS,
    TITLE_MACROS,
)

_INPUT = re.compile(
    r"\\(?P<macro>(?:@@?)?input|InputIfFileExists|include|subfile|subfileinclude|import|subimport|includefrom|inputfrom)(?![a-zA-Z])\*?"
    r"(?:\s*\{(?P<first>[^{}]*)\}(?:\s*\{(?P<second>[^{}]*)\})?|[ \t]+(?P<bare>[\w./-]+))"
)
_TWO_ARGUMENT_MACROS = ("import", "subimport", "includefrom", "inputfrom")
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|Verbatim)\}.*?\\end\{\1\}|\\verb\*?([^\w\s*]).*?\2"
    r"|\\(?:url|href|nolinkurl|path)\s*\{[^{}\n]*\}",
    re.DOTALL,
)
_LISTING = re.compile(r"\\(?P<end>begin|end)\{(?:lstlisting|minted|Verbatim|alltt)\}")
"""Beginning or end of a listing. Its braces need not be balanced, which the parser knows only of `verbatim`."""
_VERB = re.compile(r"\\verb\*?(?:([^\w\s*])([^\n]*?)\1|(?![a-zA-Z]))")
_COMMENT_BLOCK = re.compile(r"\\begin\{comment\}.*?\\end\{comment\}", re.DOTALL)
_COMMENT = re.compile(r"(?P<kept>(?<!\\)(?:\\\\)*)%[^\n]*(?:\n[ \t]*)?(?P<blank>\n\s*)?")
_CONDITIONAL = re.compile(r"\\(?P<open>if[a-zA-Z@]*)|\\(?P<turn>else|fi)(?![a-zA-Z@])")
_NON_CONDITIONALS = ("iff", "ifthenelse", "ifstrequal", "ifdefempty", "ifstrempty", "ifdefined")
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*\{?\s*\\(?P<name>[a-zA-Z@]+)\s*\}?"
    r"\s*(?:\[(?P<count>\d)\])?\s*(?:\[(?P<default>[^\[\]]*)\])?\s*(?=\{)"
    r"|\\[egx]?def\s*\\(?P<plain>[a-zA-Z@]+)(?P<parameters>(?:\s*#\d)*)\s*(?=\{)"
    r"|\\DeclareMathOperator\*?\s*\{?\s*\\(?P<operator>[a-zA-Z@]+)\s*\}?\s*(?=\{)"
    r"|\\(?:New|Renew|Provide|Declare)DocumentCommand\s*\{?\s*\\(?P<document>[a-zA-Z@]+)\s*\}?"
    r"\s*\{(?P<arguments>(?:[^{}]|\{[^{}]*\}){0,200})\}\s*(?=\{)"
    r"|\\let\s*\\(?P<alias>[a-zA-Z@]+)\s*=?\s*(?P<meaning>\\[a-zA-Z@]+)"
)
_ARGUMENT_KIND = re.compile(r"\+?(?:(?P<star>s)|(?P<required>[mrv])|O\s*\{(?P<default>[^{}]*)\}|(?P<optional>o))")
_ADDRESS = re.compile(r"(?P<macro>\\(?:url|href|nolinkurl|path)\s*\{)(?P<address>[^{}\n]*)\}")
_ESCAPE = re.compile(r"\\(?=[%#&_~$^])")
_PACKAGES = re.compile(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_MAX_ABBREVIATION_CHARS = 200
"""Maximum characters of the definition of an abbreviation in a package."""
_LATEX_MACROS = frozenset(
    {
        *HEADING_LEVELS,
        *FRONT_MATTER_MACROS,
        *TITLE_MACROS,
        *IGNORED_MACROS,
        *CITATION_MACROS,
        *REFERENCE_MACROS,
        *LINK_MACROS,
        "href",
        "doi",
        "caption",
        "footnote",
        "item",
    }
)
_DOCUMENT_CLASS = re.compile(r"^[^%\n]*\\document(?:class|style)\b", re.MULTILINE)
_MAX_DEPTH = 20
_MAX_EXPANSIONS = 200_000
_MAX_CHARACTERS = 5_000_000
_TABLE_RULE = re.compile(r"\\cmidrule\s*(?:\[[^\]]*\])?\s*(?:\([lr{}\d.pt]*\))?\s*\{[^{}]*\}")
_LINE_ENDS = "\r\n"
_ARGUMENT = re.compile(r"#([1-9])")


class TexSource(NamedTuple):
    preamble: str
    body: str
    text_after_end: str
    """Text after the end of the document, which is not printed."""
    missing: tuple[str, ...]
    """Names of files that the document includes but that are missing."""


class _Macro(NamedTuple):
    arguments: tuple[str | None, ...]
    """Default value of each argument; None if it is required, `*` if it is a star."""
    definition: str


def find_main_file(files: Mapping[str, str]) -> str | None:
    """Return the name of the document's main file; None if there is none. Among several candidates, prefer the one with
    the most include commands, then the one nearest to the top folder, then the longest."""
    main_files = [
        name for name, text in files.items() if name.endswith((".tex", ".ltx")) and _DOCUMENT_CLASS.search(text)
    ]
    return max(
        main_files,
        key=lambda name: (len(_INPUT.findall(files[name])), -name.count("/"), len(files[name])),
        default=None,
    )


def join_source(files: Mapping[str, str], main: str) -> TexSource:
    """Return the source, starting with the file `main`."""
    missing_files: list[str] = []
    job_name = posixpath.splitext(main)[0]
    files = {name: text.replace("\\jobname", job_name) for name, text in files.items()}
    text = _join_included(files, main, missing_files, 0)
    text = _TABLE_RULE.sub("", _strip_false_branches(_strip_comments(text)))
    head, begin_mark, document = text.partition("\\begin{document}")
    if not begin_mark:
        head, document = "", text
    body, _, text_after_end = document.partition("\\end{document}")
    body = _LISTING.sub(r"\\\g<end>{verbatim}", body)
    body = _VERB.sub(lambda match: escape_tex(match[2]) if match[2] is not None else "", body)
    body = _ADDRESS.sub(lambda match: f"{match['macro']}{escape_tex(_ESCAPE.sub('', match['address']))}}}", body)
    macros = _take_package_definitions(files, head)
    preamble = _expand_macros(_take_definitions(head, macros), macros)
    body = _expand_macros(_take_definitions(body, macros), macros)
    acronyms: Acronyms = {}
    take_acronyms(preamble, acronyms, are_printed=False)
    body = expand_acronyms(take_acronyms(body, acronyms, are_printed=True), acronyms)
    body = expand_citation_lists(expand_units(body, read_declared_units(preamble)))
    return TexSource(preamble, body, text_after_end.strip(), tuple(dict.fromkeys(missing_files)))


def expand_list_macros(text: str) -> str:
    """Return a generated reference list with the macros that its style defines in it expanded."""
    macros: dict[str, _Macro] = {}
    list_text = _take_definitions(_strip_comments(text), macros)
    return _expand_macros(list_text, _select_abbreviations(macros))


def _select_abbreviations(macros: Mapping[str, _Macro]) -> dict[str, _Macro]:
    """Return the macros that only abbreviate text; the others change the layout."""
    return {
        name: macro
        for name, macro in macros.items()
        if "@" not in name + macro.definition
        and len(macro.definition) <= _MAX_ABBREVIATION_CHARS
        and name not in _LATEX_MACROS
    }


def _take_package_definitions(files: Mapping[str, str], preamble: str) -> dict[str, _Macro]:
    """Return the abbreviations that the document's own packages define. Other definitions in them change the layout."""
    macros: dict[str, _Macro] = {}
    for match in _PACKAGES.finditer(preamble):
        for name in match[1].split(","):
            _take_definitions(_strip_comments(files.get(f"{name.strip()}.sty", "")), macros)
    return _select_abbreviations(macros)


def _join_included(files: Mapping[str, str], name: str, missing_files: list[str], depth: int) -> str:
    """Return a file with the files that it includes inserted in place. A file cannot include itself."""
    if depth > _MAX_DEPTH:
        missing_files.append(name)
        return ""
    text = _strip_comments(files[name])
    if depth:
        _, begin_mark, document = text.partition("\\begin{document}")  # a subfile has its own preamble
        text = document.partition("\\end{document}")[0] if begin_mark else text

    other_files = {key: content for key, content in files.items() if key != name}

    def include_file(match: re.Match[str]) -> str:
        file_name = match["first"] if match["first"] is not None else match["bare"]
        if match["macro"] in _TWO_ARGUMENT_MACROS:
            file_name = posixpath.join(file_name, match["second"] or "")
            unused_argument = ""
        else:
            unused_argument = f"{{{match['second']}}}" if match["second"] is not None else ""
        included_name = find_file(other_files, file_name.strip(), name)
        if included_name is None:
            missing_files.append(file_name.strip())
            return unused_argument
        page = "\n\n" if match["macro"] == "include" else " "
        content = _join_included(other_files, included_name, missing_files, depth + 1).strip(_LINE_ENDS)
        return f"{page}{content}{page}{unused_argument}"

    return _INPUT.sub(include_file, text)


def find_file(files: Mapping[str, object], file_name: str, origin: str, suffix: str = ".tex") -> str | None:
    """Resolve an included file's name, first against the root folder and then against `origin`'s folder, and return it;
    None if there is no such file."""
    for folder in ("", posixpath.dirname(origin)):
        path = posixpath.normpath(posixpath.join(folder, file_name))
        for candidate in (path, f"{path}{suffix}"):
            if candidate in files:
                return candidate
    return None


def _strip_comments(text: str) -> str:
    """Strip comments from the text. Percent signs in verbatim text do not start comments."""
    pieces, consumed = [], 0
    text = _COMMENT_BLOCK.sub("", text)
    for verbatim in _VERBATIM.finditer(text):
        pieces += [_strip_plain_comments(text[consumed : verbatim.start()]), verbatim[0]]
        consumed = verbatim.end()
    return "".join([*pieces, _strip_plain_comments(text[consumed:])])


def _strip_plain_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: match["kept"] + ("\n\n" if match["blank"] else ""), text)


def _strip_false_branches(text: str) -> str:
    """Strip the parts between `\\iffalse` and its `\\else` or `\\fi`. Both branches of other conditionals are kept,
    because it is not known which one applies."""
    pieces: list[str] = []
    consumed = depth = 0
    for match in _CONDITIONAL.finditer(text):
        if match["open"] in _NON_CONDITIONALS:
            continue
        if depth == 0:
            if match["open"] == "iffalse":
                pieces.append(text[consumed : match.start()])
                depth = 1
            continue
        depth += 1 if match["open"] else -1 if match["turn"] == "fi" else 0
        if depth == 0 or (depth == 1 and match["turn"] == "else"):
            depth, consumed = 0, match.end()
    return "".join([*pieces, "" if depth else text[consumed:]])


def _take_definitions(text: str, macros: dict[str, _Macro]) -> str:
    """Strip the definitions of macros from the text, and add them to `macros`."""
    pieces: list[str] = []
    consumed = 0
    while match := _DEFINITION.search(text, consumed):
        end = match.end() if match["alias"] else find_group_end(text, match.end())
        if end is None:
            break
        pieces.append(text[consumed : match.start()])
        definition = match["meaning"] or text[match.end() + 1 : end - 1]
        if match["operator"]:
            macros[match["operator"]] = _Macro((), f"\\operatorname{{{definition}}}")
        elif match["plain"]:
            macros[match["plain"]] = _Macro((None,) * (match["parameters"] or "").count("#"), definition)
        elif match["document"]:
            macros[match["document"]] = _Macro(tuple(_list_argument_defaults(match["arguments"])), definition)
        elif match["alias"]:
            macros[match["alias"]] = _Macro((), definition)
        else:
            count, default = int(match["count"] or 0), match["default"]
            macros[match["name"]] = _Macro((default, *(None,) * (count - 1)) if count else (), definition)
        consumed = end
    return "".join([*pieces, text[consumed:]])


def _list_argument_defaults(kinds: str) -> Iterator[str | None]:
    """Yield the default values of the arguments in the notation of `\\NewDocumentCommand`: `s O{a} m`."""
    for match in _ARGUMENT_KIND.finditer(kinds):
        yield "*" if match["star"] else None if match["required"] else match["default"] or ""


def _expand_macros(text: str, macros: Mapping[str, _Macro]) -> str:
    """Replace the document's own macros by their definitions, up to a limited number of times."""
    if not macros:
        return text
    names = "|".join(sorted(map(re.escape, macros), key=len, reverse=True))
    pattern = re.compile(rf"\\({names})(?![a-zA-Z@])[ \t]*")
    expansions_left = _MAX_EXPANSIONS
    for _ in range(_MAX_DEPTH):
        pieces: list[str] = []
        consumed = expanded_chars = 0
        for match in pattern.finditer(text):
            if match.start() < consumed or expansions_left <= 0 or expanded_chars > _MAX_CHARACTERS:
                continue
            expansions_left -= 1
            expansion, end = _expand_macro(text, match, macros[match[1]])
            pieces += [text[consumed : match.start()], expansion]
            expanded_chars += len(expansion) + match.start() - consumed
            consumed = end
        if not pieces:
            break
        text = "".join([*pieces, text[consumed:]])
    return text


def _expand_macro(text: str, match: re.Match[str], macro: _Macro) -> tuple[str, int]:
    """Return a macro's definition with its arguments inserted, and the position after them."""
    arguments: list[str] = []
    position = match.end()
    for default in macro.arguments:
        if default == "*":
            arguments.append("")
            position += text.startswith("*", position)
            continue
        if default is not None:
            option, position = read_option(text, position)
            arguments.append(default if option is None else option)
            continue
        start = skip_spaces(text, position)
        end = find_group_end(text, start) if text[start : start + 1] == "{" else start + 1
        if end is None or start >= len(text):
            break
        arguments.append(text[start + 1 : end - 1] if text[start] == "{" else text[start])
        position = end
    if (
        not macro.arguments
        and position == match.end()
        and text[position : position + 1].isalnum()
        and match[0][-1] not in " \t"
    ):
        return macro.definition, position
    values = dict(enumerate(arguments, 1))
    # TeX drops a space after a macro without arguments, but authors forget that, and `xspace` restores it.
    space = " " if not macro.arguments and match[0][-1] in " \t" else ""
    return _ARGUMENT.sub(lambda number: values.get(int(number[1]), ""), macro.definition) + space, position
