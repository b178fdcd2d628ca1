"""Check every text in a model's answer: clean it, and find and redact foreign citations, which cite works that the
prompt did not show.

All string fields are found through the answer's Pydantic model. A field without a `TextRole` is prose, which must not
contain citations; a role in the field's annotation allows more."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from assayer.citing.foreign_citations import ForeignCitation, find_foreign_citations
from assayer.citing.foreign_labels import UNKNOWN_LABEL, WRONG_FORM, blank_labels, find_foreign_labels
from assayer.models.assessment import LABEL
from assayer.text.lookalikes import normalise_words
from assayer.text.sanitise import clean_answer
from assayer.text.sentences import sentence_spans

Out = TypeVar("Out", bound=BaseModel)

REDACTED = "Removed: it cited a work that was not provided."
"""Replacement for a required text of which nothing is left after redaction."""
REDACTED_REASON = "cited a work that was not among the evidence, even after a retry"


def compute_max_chars(words: int) -> int:
    """Return the maximum number of characters in a text of `words` words: 16 per word, twice the usual length."""
    return 2 * 8 * words


class TextRole(Enum):
    CITES = "cites"
    """Text that may cite papers by the labels shown in the prompt."""
    RESTATES = "restates"
    """Text that restates the idea or a paper; citations repeated from there are silently removed."""
    COPIED = "copied"
    """Words copied from a source; they are checked against the source elsewhere."""
    NAMED = "named"
    """Title of a work that the model names from memory; it is looked up and marked as such elsewhere."""
    QUERY = "query"
    """Search query; it does not appear in reports."""
    PROSE = "prose"
    """Text that must not contain citations; labels of papers that were shown are silently removed. This is the default
    for fields without an annotation."""
    LABEL = "label"
    """Text restricted to a pattern, so that it can only be a label."""


_LABEL_FIELDS = ("label", "labels")
_REPEATED = re.compile(r"((?<![^\s])[^.!?\n]{8,300}[.!?])(?:\s+\1)+(?=\s|\Z)")
"""Matches a sentence that is repeated several times in a row, as small models do."""


class QuestionTexts:
    """The texts that a question shows, and the labels of the papers in it."""

    def __init__(self, question: BaseModel) -> None:
        self._texts = list(_iterate_strings(question))
        labels = {text for name, text in self._texts if name in _LABEL_FIELDS}
        self.labels: Collection[str] = {label for label in labels if label.startswith("P")}

    @cached_property
    def text(self) -> str:
        return "\n".join(text for name, text in self._texts if name not in _LABEL_FIELDS)

    @cached_property
    def words(self) -> str:
        return f" {normalise_words(self.text)} "


def _iterate_strings(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, BaseModel):
        for field in type(value).model_fields:
            yield from _iterate_strings(getattr(value, field), field)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _iterate_strings(item, str(key))
    elif isinstance(value, Sequence):
        for item in value:
            yield from _iterate_strings(item, name)


# Fields


class _Shape(NamedTuple):
    """Shape of a field's text: its role, the shape of its list items, and whether it is optional."""

    role: TextRole | None = None
    items: "_Shape | None" = None
    optional: bool = False


@cache
def _build_shapes(model: type[BaseModel]) -> dict[str, _Shape]:
    return {
        name: _parse_annotation(info.annotation, tuple(info.metadata), TextRole.PROSE)
        for name, info in model.model_fields.items()
    }


def _parse_annotation(annotation: Any, metadata: tuple[object, ...], role: TextRole) -> _Shape:
    """Return the structure of texts that a type annotation describes. If text roles are nested, the innermost one
    applies."""
    for item in metadata:
        parts = item.metadata if isinstance(item, FieldInfo) else [item]
        role = next((part for part in parts if isinstance(part, TextRole)), role)
        if any(getattr(part, "pattern", None) for part in parts):
            role = TextRole.LABEL
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _parse_annotation(arguments[0], arguments[1:], role)
    if origin in (Union, UnionType):
        argument_shapes = [_parse_annotation(argument, (), role) for argument in arguments]
        return _Shape(
            next((shape.role for shape in argument_shapes if shape.role), None),
            next((shape.items for shape in argument_shapes if shape.items), None),
            type(None) in arguments,
        )
    if origin in (list, tuple, Sequence):
        return _Shape(items=_parse_annotation(arguments[0], (), role))
    return _Shape(role if annotation is str else None)


def find_text_fields(model: type[BaseModel]) -> dict[str, TextRole]:
    """Return the role of every text field in an answer, keyed by the field's path (`claims.text`)."""
    roles_by_field: dict[str, TextRole] = {}
    for name, info in model.model_fields.items():
        shape: _Shape | None = _build_shapes(model)[name]
        while shape is not None:
            if shape.role is not None:
                roles_by_field[name] = shape.role
            shape = shape.items
        for inner in _find_models(info.annotation):
            roles_by_field |= {f"{name}.{path}": role for path, role in find_text_fields(inner).items()}
    return roles_by_field


def _find_models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for item in get_args(annotation):
        yield from _find_models(item)


_DROPPED: Any = object()
Rewriter = Callable[[str, TextRole], Any]


def _rewrite_texts(value: Any, shape: _Shape | None, rewrite: Rewriter) -> Any:
    """Rewrite the texts in a value and return it as plain data. A text that the rewriter drops becomes `_DROPPED`, and
    so does an object whose only text was dropped."""
    if isinstance(value, str):
        return rewrite(value, shape.role) if shape is not None and shape.role is not None else value
    if isinstance(value, BaseModel):
        shapes = _build_shapes(type(value))
        data = {name: _rewrite_texts(getattr(value, name), shapes[name], rewrite) for name in shapes}
        return _fill_gaps(data, type(value))
    if isinstance(value, list | tuple):
        items = [_rewrite_texts(item, shape.items if shape is not None else None, rewrite) for item in value]
        return [item for item in items if item is not _DROPPED]
    return value


def _fill_gaps(data: dict[str, Any], model: type[BaseModel]) -> Any:
    """Fill the gaps left by dropped texts. An object with no other text is dropped, an optional field becomes None, and
    any other field is set to `REDACTED`."""
    dropped_fields = [name for name, datum in data.items() if datum is _DROPPED]
    if dropped_fields and sum(role in _CHECKED for role in find_text_fields(model).values()) == 1:
        return _DROPPED
    replacements = {name: None if _build_shapes(model)[name].optional else REDACTED for name in dropped_fields}
    return {model.model_fields[name].alias or name: datum for name, datum in (data | replacements).items()}


_CHECKED = (TextRole.CITES, TextRole.RESTATES, TextRole.PROSE)


def _rebuild_answer(answer: Out, rewrite: Rewriter) -> Out | None:
    """Rebuild the answer with rewritten texts. Returns None if the result does not fit the answer's schema."""
    data = _rewrite_texts(answer, None, rewrite)
    if data is _DROPPED:
        return None
    try:
        return type(answer).model_validate(data)
    except ValidationError:
        return None


# Texts


def _find_reportable_citations(text: str, role: TextRole, question: QuestionTexts) -> list[ForeignCitation]:
    """Return the foreign citations that require a complaint, leaving out those that are silently removed."""
    if role not in _CHECKED:
        return []
    labels = [
        foreign_label
        for foreign_label in find_foreign_labels(text, question.labels, lambda: question.text)
        if role is TextRole.CITES or foreign_label.kind == UNKNOWN_LABEL
    ]
    cited = [
        foreign_citation
        for foreign_citation in find_foreign_citations(blank_labels(text), lambda: question.words)
        if role is not TextRole.RESTATES or text[foreign_citation.start : foreign_citation.end] not in question.text
    ]
    return sorted([*labels, *cited])


def _remove_citations(text: str, citations: Sequence[ForeignCitation]) -> str:
    """Remove the citations, keeping the text readable. Inside quotation marks, an ellipsis replaces each citation."""
    pieces, position = [], 0
    for item in sorted(citations):
        if item.start < position:
            continue
        before = text[position : item.start]
        if _is_quoted(text, item):
            pieces += [before, "…"]
        else:
            pieces += [
                before.rstrip(" ") if item.bracketed and not _is_label(item) else before,
                _choose_replacement(item),
            ]
        position = item.end
    return "".join(pieces) + text[position:]


def _is_quoted(text: str, foreign_citation: ForeignCitation) -> bool:
    """Return whether the citation is inside quotation marks, where a word inserted in its place would look like part of
    the source."""
    return (
        text.rfind("“", 0, foreign_citation.start) > text.rfind("”", 0, foreign_citation.start)
        and "”" in text[foreign_citation.end :]
    )


def _is_label(foreign_citation: ForeignCitation) -> bool:
    return foreign_citation.kind in (UNKNOWN_LABEL, WRONG_FORM)


def _choose_replacement(foreign_citation: ForeignCitation) -> str:
    if _is_label(foreign_citation):
        return "(another paper)" if foreign_citation.bracketed else "another paper"
    if foreign_citation.bracketed:
        return ""
    return "(link removed)" if foreign_citation.kind in ("an address", "an identifier") else "earlier work"


def _clean_text(text: str, role: TextRole, question: QuestionTexts) -> str:
    text = clean_answer(text)
    if role is not TextRole.COPIED:
        text = _REPEATED.sub(r"\1", text)
    if role is TextRole.RESTATES:
        citations = find_foreign_citations(blank_labels(text), lambda: question.words)
        text = _remove_citations(text, [item for item in citations if text[item.start : item.end] in question.text])
    if role in (TextRole.RESTATES, TextRole.PROSE):
        text = LABEL.sub(lambda match: match[0] if _has_unknown_label(match[1], question) else "(another paper)", text)
        wrong_forms = [
            foreign_label
            for foreign_label in find_foreign_labels(text, question.labels, lambda: question.text)
            if foreign_label.kind == WRONG_FORM
        ]
        text = _remove_citations(text, wrong_forms)
    return text


def _has_unknown_label(group: str, question: QuestionTexts) -> bool:
    return not {part.strip() for part in group.replace(";", ",").split(",")} <= set(question.labels)


# Answers


def sanitise_answer(answer: Out, question: QuestionTexts) -> Out | None:
    """Remove invisible characters, and content that a field must not hold but that does not warrant a complaint.
    Returns None if the result does not fit the schema."""
    return _rebuild_answer(answer, lambda text, role: _clean_text(text, role, question))


def complain_about_foreign_citations(answer: BaseModel, question: QuestionTexts) -> list[str]:
    """Return one complaint per text that contains foreign citations, worded for the model."""
    complaints: list[str] = []

    def complain(text: str, role: TextRole) -> str:
        citations = _find_reportable_citations(text, role, question)
        if citations:
            named = ", ".join(
                dict.fromkeys(f"{text[item.start : item.end][:60]!r} is {item.kind}" for item in citations[:4])
            )
            complaints.append(f"In {text[:80]!r}: {named}. {_ADVICE[role]}")
        return text

    _rewrite_texts(answer, None, complain)
    return complaints


_ADVICE = {
    TextRole.CITES: "Cite nothing but labels that were given, in square brackets; name no other work.",
    TextRole.RESTATES: "Say it without any citation, address or identifier.",
    TextRole.PROSE: "Say it without any citation, address or identifier.",
}


class RedactedAnswer(NamedTuple):
    value: Any
    sentences: int
    """Number of sentences that were removed."""


def redact_answer(answer: Out, question: QuestionTexts, check: Callable[[Out], Sequence[str]]) -> RedactedAnswer | None:
    """Return the answer without the sentences that contain foreign citations, or None if the rest fails its check or
    its schema."""
    for emptied in ("item", "text", "touched item"):
        sentences = 0

        def redact(text: str, role: TextRole, emptied: Literal["item", "text", "touched item"] = emptied) -> Any:
            nonlocal sentences
            remaining_text, count = _redact_text(text, role, question)
            if not count or (remaining_text and emptied != "touched item"):
                sentences += count
                return remaining_text
            sentences += len(sentence_spans(text))
            return REDACTED if emptied == "text" and role is not TextRole.CITES else _DROPPED

        value = _rebuild_answer(answer, redact)
        if value is not None and not check(value) and not complain_about_foreign_citations(value, question):
            return RedactedAnswer(value, sentences)
    return None


def _redact_text(text: str, role: TextRole, question: QuestionTexts) -> tuple[str, int]:
    citations = _find_reportable_citations(text, role, question)
    if not citations:
        return text, 0
    original_text = text
    for item in citations:  # so that no sentence ends inside a citation
        original_text = original_text[: item.start] + "x" * (item.end - item.start) + original_text[item.end :]
    spans = sentence_spans(original_text)
    kept_spans = [
        (start, end) for start, end in spans if not any(item.start < end and start < item.end for item in citations)
    ]
    remaining_text = "".join(text[start:end] for start, end in kept_spans).strip()
    return (
        ("", len(spans))
        if _find_reportable_citations(remaining_text, role, question)
        else (remaining_text, len(spans) - len(kept_spans))
    )
