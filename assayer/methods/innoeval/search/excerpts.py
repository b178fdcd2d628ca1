"""Select excerpts from a long text or a repository, without a model: those that share the most words with an idea."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from assayer.models import Codebase, Definition
from assayer.text.cutting import keep_beginning
from assayer.text.sentences import sentence_spans

_SPAN_CHARS = 800
"""Maximum number of characters in a span. Longer paragraphs are split between sentences, and longer sentences are
cut."""
_WORD = re.compile(r"[^\W\d_]{3,}")


def collect_words(*texts: str) -> frozenset[str]:
    """Return the texts' words of three letters or more, in lower case."""
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def cut_excerpt(texts: Iterable[str], subject_words: Set[str], limit: int) -> str:
    """Return the spans that share the most words with `subject_words`, in at most `limit` characters. Rare words weigh
    more. Adjacent spans in the same paragraph stay together."""
    spans = [
        (paragraph, span)
        for paragraph, text in enumerate(item for text in texts for item in _split_into_paragraphs(text))
        for span in _split_into_spans(text)
    ]
    words = [collect_words(span) for _, span in spans]
    span_counts = Counter(word for span_words in words for word in span_words)
    rarity = {word: math.log(1 + len(spans) / count) for word, count in span_counts.items()}
    weight = [
        sum(rarity[word] for word in span_words & subject_words) / math.sqrt(8 + len(span_words))
        for span_words in words
    ]
    chosen_indexes: list[int] = []
    remaining_chars = limit
    for index in sorted(range(len(spans)), key=lambda index: (-weight[index], index)):
        length = len(spans[index][1]) + 2
        if length <= remaining_chars:
            chosen_indexes.append(index)
            remaining_chars -= length
    return _join_sentences([(index, *spans[index]) for index in sorted(chosen_indexes)])


def _split_into_paragraphs(text: str) -> list[str]:
    blocks = re.split(r"\n\s*\n", text)
    return [" ".join(block.split()) for block in blocks if block.strip()]


def _split_into_spans(paragraph: str) -> list[str]:
    spans = [""]
    for sentence in _split_into_pieces(paragraph):
        if spans[-1] and len(spans[-1]) + len(sentence) >= _SPAN_CHARS:
            spans.append("")
        spans[-1] = f"{spans[-1]} {sentence}".strip()
    return spans


def _split_into_pieces(paragraph: str) -> Iterator[str]:
    """Yield sentences; one that is longer than a span is cut."""
    for start, end in sentence_spans(paragraph):
        remaining_text = paragraph[start:end].strip()
        while remaining_text:
            part = keep_beginning(remaining_text, _SPAN_CHARS)
            yield part
            remaining_text = remaining_text[len(part) :].strip()


def _join_sentences(chosen_spans: Sequence[tuple[int, int, str]]) -> str:
    text = ""
    last: tuple[int, int] | None = None
    for index, paragraph, span in chosen_spans:
        adjacent = last == (index - 1, paragraph)
        gap = " " if adjacent else "\n\n"
        text += f"{gap}{span}" if text else span
        last = index, paragraph
    return text


_PATHS = 30
_DEFINITIONS = 12
_BODIES = 2
_BODY_LINES = 25
"""Maximum number of lines of a definition that is shown with its body."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_./]")


def cut_repository_excerpt(code: Codebase, subject_words: Set[str], limit: int) -> str:
    """Return an excerpt from a repository in at most `limit` characters; each block is a separate paragraph."""
    chosen_definitions = _select_most_related(code.definitions, subject_words)
    code_blocks = [
        _describe_structure(code),
        _describe_file_dependencies(code.definitions),
        _describe_calls(code.definitions, chosen_definitions),
        *_list_bodies(code, chosen_definitions),
    ]
    blocks = [block for block in code_blocks if block]
    readme = cut_excerpt([code.readme], subject_words, max(limit // 2, limit - sum(len(block) + 2 for block in blocks)))
    text = readme
    for block in blocks:
        if len(text) + len(block) + 2 <= limit:
            text = f"{text}\n\n{block}".strip()
    return text


def _split_name(name: str) -> frozenset[str]:
    return collect_words(_CAMEL.sub(" ", name))


def _select_most_related(definitions: Sequence[Definition], subject_words: Set[str]) -> list[Definition]:
    """Return the definitions that share the most words with the idea; ties go to the definition with the most calls."""

    def compute_rank(definition: Definition) -> tuple[int, int, str, int]:
        shared_count = len(
            (_split_name(definition.name) | _split_name(definition.path) | collect_words(definition.doc))
            & subject_words
        )
        return -shared_count, -len(definition.calls), definition.path, definition.line

    return sorted(definitions, key=compute_rank)[:_DEFINITIONS]


def _describe_structure(code: Codebase) -> str:
    if not code.tree:
        return ""
    shallow = sorted(code.tree, key=lambda path: (path.count("/"), path))[:_PATHS]
    return f"Structure ({code.files} files): {', '.join(shallow)}"


def _map_defining_files(definitions: Iterable[Definition]) -> dict[str, str]:
    """Map each name to the file that defines it. Names defined in several files are ambiguous and left out."""
    files: dict[str, set[str]] = {}
    for definition in definitions:
        files.setdefault(definition.name.rpartition(".")[2], set()).add(definition.path)
    return {name: next(iter(paths)) for name, paths in files.items() if len(paths) == 1}


def _find_target_files(definition: Definition, defining_files: Mapping[str, str]) -> list[str]:
    last = (call.rpartition(".")[2] for call in definition.calls)
    return [
        name for name in dict.fromkeys(last) if name in defining_files and name != definition.name.rpartition(".")[2]
    ]


def _describe_file_dependencies(definitions: Sequence[Definition]) -> str:
    defining_files = _map_defining_files(definitions)
    edges = {
        (definition.path, defining_files[name])
        for definition in definitions
        for name in _find_target_files(definition, defining_files)
        if defining_files[name] != definition.path
    }
    if not edges:
        return ""
    return "Files that use files: " + "; ".join(f"{user} → {used_file}" for user, used_file in sorted(edges)[:_PATHS])


def _describe_calls(definitions: Sequence[Definition], chosen_definitions: Sequence[Definition]) -> str:
    defining_files = _map_defining_files(definitions)
    lines = []
    for item in chosen_definitions:
        targets = ", ".join(_find_target_files(item, defining_files))
        doc = " ".join(item.doc.split())[:120]
        lines.append(f"{item.path}: {item.name}{doc and ' — '}{doc}{targets and ' → '}{targets}")
    return "Definitions and what they call:\n" + "\n".join(lines) if lines else ""


def _list_bodies(code: Codebase, chosen_definitions: Sequence[Definition]) -> list[str]:
    sources = {source.path: source.text.split("\n") for source in code.sources}
    functions = [item for item in chosen_definitions if item.kind == "function" and item.path in sources][:_BODIES]
    return [_format_body(function, sources[function.path]) for function in functions]


def _format_body(definition: Definition, lines: Sequence[str]) -> str:
    body_lines = [
        line.rstrip() for line in lines[definition.line - 1 : definition.line - 1 + _BODY_LINES] if line.strip()
    ]
    return f"{definition.path}, line {definition.line}:\n" + "\n".join(body_lines)
