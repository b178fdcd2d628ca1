"""Excerpts of a long text, or of a repository, most related to an idea. Chosen by shared words, without a model."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from assayer.models import Codebase, Definition
from assayer.text.cutting import first_words
from assayer.text.sentences import sentence_spans

__all__ = ["excerpt", "repository_excerpt", "words_of"]


_STRETCH_CHARS = 800
"""Characters; longer paragraphs are split between sentences, and longer sentences wherever they must be."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


def words_of(*texts: str) -> frozenset[str]:
    """Words of three letters or more, in lower case."""
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def excerpt(texts: Iterable[str], about: Set[str], limit: int) -> str:
    """At most `limit` characters. Stretches of one paragraph that stand side by side stay one paragraph."""
    stretches = [
        (paragraph, stretch)
        for paragraph, text in enumerate(one for text in texts for one in _paragraphs(text))
        for stretch in _stretches(text)
    ]
    words = [words_of(stretch) for _, stretch in stretches]
    spread = Counter(word for found in words for word in found)
    rarity = {word: math.log(1 + len(stretches) / count) for word, count in spread.items()}
    weight = [sum(rarity[word] for word in found & about) / math.sqrt(8 + len(found)) for found in words]
    chosen: list[int] = []
    room = limit
    for index in sorted(range(len(stretches)), key=lambda index: (-weight[index], index)):
        length = len(stretches[index][1]) + 2
        if length <= room:
            chosen.append(index)
            room -= length
    return _joined([(index, *stretches[index]) for index in sorted(chosen)])


def _paragraphs(text: str) -> list[str]:
    blocks = re.split(r"\n\s*\n", text)
    return [" ".join(block.split()) for block in blocks if block.strip()]


def _stretches(paragraph: str) -> list[str]:
    found = [""]
    for sentence in _short_pieces(paragraph):
        if found[-1] and len(found[-1]) + len(sentence) >= _STRETCH_CHARS:
            found.append("")
        found[-1] = f"{found[-1]} {sentence}".strip()
    return found


def _short_pieces(paragraph: str) -> Iterator[str]:
    """Sentences. What is longer than a stretch has none that these marks show: it is divided by the rules of many
    languages, and what is still too long at the limit."""
    for piece in _SENTENCE_END.split(paragraph):
        if len(piece) <= _STRETCH_CHARS:
            yield piece
            continue
        for start, end in sentence_spans(piece):
            rest = piece[start:end].strip()
            while rest:
                part = first_words(rest, _STRETCH_CHARS)
                yield part
                rest = rest[len(part) :].strip()


def _joined(chosen: Sequence[tuple[int, int, str]]) -> str:
    text = ""
    last: tuple[int, int] | None = None
    for index, paragraph, stretch in chosen:
        adjacent = last == (index - 1, paragraph)
        gap = " " if adjacent else "\n\n"
        text += f"{gap}{stretch}" if text else stretch
        last = index, paragraph
    return text


_PATHS = 30
_DEFINITIONS = 12
_BODIES = 2
_BODY_LINES = 25
"""Of a definition that is shown whole."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_./]")


def repository_excerpt(code: Codebase, about: Set[str], limit: int) -> str:
    """At most `limit` characters; each block is a paragraph of its own."""
    chosen = _most_related(code.definitions, about)
    rest = [
        _structure(code),
        _file_dependencies(code.definitions),
        _call_list(code.definitions, chosen),
        *_bodies(code, chosen),
    ]
    blocks = [block for block in rest if block]
    readme = excerpt([code.readme], about, max(limit // 2, limit - sum(len(block) + 2 for block in blocks)))
    text = readme
    for block in blocks:
        if len(text) + len(block) + 2 <= limit:
            text = f"{text}\n\n{block}".strip()
    return text


def _name_words(name: str) -> frozenset[str]:
    return words_of(_CAMEL.sub(" ", name))


def _most_related(definitions: Sequence[Definition], about: Set[str]) -> list[Definition]:
    """Those that share most words with the idea, and of these the ones that do most."""

    def rank(one: Definition) -> tuple[int, int, str, int]:
        shared = len((_name_words(one.name) | _name_words(one.path) | words_of(one.doc)) & about)
        return -shared, -len(one.calls), one.path, one.line

    return sorted(definitions, key=rank)[:_DEFINITIONS]


def _structure(code: Codebase) -> str:
    if not code.tree:
        return ""
    shallow = sorted(code.tree, key=lambda path: (path.count("/"), path))[:_PATHS]
    return f"Structure ({code.files} files): {', '.join(shallow)}"


def _defining_files(definitions: Iterable[Definition]) -> dict[str, str]:
    """The file in which each name is defined; names that several files define tell nothing."""
    files: dict[str, set[str]] = {}
    for one in definitions:
        files.setdefault(one.name.rpartition(".")[2], set()).add(one.path)
    return {name: next(iter(paths)) for name, paths in files.items() if len(paths) == 1}


def _targets(one: Definition, known: Mapping[str, str]) -> list[str]:
    last = (call.rpartition(".")[2] for call in one.calls)
    return [name for name in dict.fromkeys(last) if name in known and name != one.name.rpartition(".")[2]]


def _file_dependencies(definitions: Sequence[Definition]) -> str:
    known = _defining_files(definitions)
    edges = {(one.path, known[name]) for one in definitions for name in _targets(one, known) if known[name] != one.path}
    if not edges:
        return ""
    return "Files that use files: " + "; ".join(f"{user} → {used}" for user, used in sorted(edges)[:_PATHS])


def _call_list(definitions: Sequence[Definition], chosen: Sequence[Definition]) -> str:
    known = _defining_files(definitions)
    lines = []
    for one in chosen:
        targets = ", ".join(_targets(one, known))
        doc = " ".join(one.doc.split())[:120]
        lines.append(f"{one.path}: {one.name}{doc and ' — '}{doc}{targets and ' → '}{targets}")
    return "Definitions and what they call:\n" + "\n".join(lines) if lines else ""


def _bodies(code: Codebase, chosen: Sequence[Definition]) -> list[str]:
    sources = {source.path: source.text.split("\n") for source in code.sources}
    functions = [one for one in chosen if one.kind == "function" and one.path in sources][:_BODIES]
    return [_body(one, sources[one.path]) for one in functions]


def _body(one: Definition, lines: Sequence[str]) -> str:
    shown = [line.rstrip() for line in lines[one.line - 1 : one.line - 1 + _BODY_LINES] if line.strip()]
    return f"{one.path}, line {one.line}:\n" + "\n".join(shown)
