"""Every text of a model's answer: cleaned, held against what was given, and struck where it cites anything else.

Texts are found by walking the answer's fields, so that a field that nobody thought of is prose, and prose may cite
nothing. What a field may hold beyond that is said by a `TextRole` in its annotation.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from assayer.citing.foreign_citations import ForeignCitation, foreign_citations
from assayer.citing.foreign_labels import UNKNOWN_LABEL, WRONG_FORM, foreign_labels, without_labels
from assayer.models.assessment import LABEL
from assayer.text.lookalikes import words_of
from assayer.text.sanitise import clean_answer
from assayer.text.sentences import sentence_spans

__all__ = [
    "STRUCK",
    "STRUCK_REASON",
    "Given",
    "StruckAnswer",
    "TextRole",
    "cleaned",
    "foreign_complaints",
    "struck",
    "text_fields",
    "without_foreign_citations",
]

Out = TypeVar("Out", bound=BaseModel)

STRUCK = "Left out: it named a work that was not given."
"""Stands where nothing is left of a text that there has to be."""
STRUCK_REASON = "cited what was not among the evidence, even when asked again"


class TextRole(Enum):
    CITES = "cites"
    """May cite the labels given."""
    RESTATES = "restates"
    """Says again what the idea or a paper says; citations that stand there are taken out without a complaint."""
    COPIED = "copied"
    """Words of a source, which are held against it elsewhere."""
    QUERY = "query"
    """Goes to a search and into no report."""
    PROSE = "prose"
    """May cite nothing; labels of papers that were given are taken out without a complaint. What is not annotated."""
    LABEL = "label"
    """Held to a pattern, so that it can be nothing but a label."""


_LABEL_FIELDS = ("label", "labels")


class Given:
    """What a question showed: all of its texts, and the labels of papers."""

    def __init__(self, question: BaseModel) -> None:
        self._texts = list(_strings(question))
        labels = {text for name, text in self._texts if name in _LABEL_FIELDS}
        self.labels: Collection[str] = {label for label in labels if label.startswith("P")}

    @cached_property
    def text(self) -> str:
        return "\n".join(text for name, text in self._texts if name not in _LABEL_FIELDS)

    @cached_property
    def words(self) -> str:
        return f" {words_of(self.text)} "


def _strings(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, BaseModel):
        for field in type(value).model_fields:
            yield from _strings(getattr(value, field), field)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _strings(one, str(key))
    elif isinstance(value, Sequence):
        for one in value:
            yield from _strings(one, name)


# Fields


class _Shape(NamedTuple):
    """What may stand in a field, as far as it holds text."""

    role: TextRole | None = None
    items: "_Shape | None" = None
    optional: bool = False


@cache
def _shapes(model: type[BaseModel]) -> dict[str, _Shape]:
    return {
        name: _shape(info.annotation, tuple(info.metadata), TextRole.PROSE) for name, info in model.model_fields.items()
    }


def _shape(annotation: Any, metadata: tuple[object, ...], role: TextRole) -> _Shape:
    """The innermost role counts."""
    for one in metadata:
        parts = one.metadata if isinstance(one, FieldInfo) else [one]
        role = next((part for part in parts if isinstance(part, TextRole)), role)
        if any(getattr(part, "pattern", None) for part in parts):
            role = TextRole.LABEL
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], arguments[1:], role)
    if origin in (Union, UnionType):
        shapes = [_shape(one, (), role) for one in arguments]
        return _Shape(
            next((one.role for one in shapes if one.role), None),
            next((one.items for one in shapes if one.items), None),
            type(None) in arguments,
        )
    if origin in (list, tuple, Sequence):
        return _Shape(items=_shape(arguments[0], (), role))
    return _Shape(role if annotation is str else None)


def text_fields(model: type[BaseModel]) -> dict[str, TextRole]:
    """Every field of an answer that holds text, by its path (`claims.text`), and what it may hold."""
    found: dict[str, TextRole] = {}
    for name, info in model.model_fields.items():
        shape: _Shape | None = _shapes(model)[name]
        while shape is not None:
            if shape.role is not None:
                found[name] = shape.role
            shape = shape.items
        for inner in _models_in(info.annotation):
            found |= {f"{name}.{path}": role for path, role in text_fields(inner).items()}
    return found


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for one in get_args(annotation):
        yield from _models_in(one)


_GONE: Any = object()
Rewriter = Callable[[str, TextRole], Any]


def _rewritten(value: Any, shape: _Shape | None, rewrite: Rewriter) -> Any:
    """As plain data; what the rewriter gave up is `_GONE`, and so is an object whose only text that was."""
    if isinstance(value, str):
        return rewrite(value, shape.role) if shape is not None and shape.role is not None else value
    if isinstance(value, BaseModel):
        shapes = _shapes(type(value))
        data = {name: _rewritten(getattr(value, name), shapes[name], rewrite) for name in shapes}
        return _without_gaps(data, type(value))
    if isinstance(value, list | tuple):
        items = [_rewritten(one, shape.items if shape is not None else None, rewrite) for one in value]
        return [one for one in items if one is not _GONE]
    return value


def _without_gaps(data: dict[str, Any], model: type[BaseModel]) -> Any:
    """Nothing is left of an object that has no other text; elsewhere the gap is named, or null where it may be."""
    gone = [name for name, one in data.items() if one is _GONE]
    if gone and sum(role in _CHECKED for role in text_fields(model).values()) == 1:
        return _GONE
    gaps = {name: None if _shapes(model)[name].optional else STRUCK for name in gone}
    return {model.model_fields[name].alias or name: one for name, one in (data | gaps).items()}


_CHECKED = (TextRole.CITES, TextRole.RESTATES, TextRole.PROSE)


def _rebuilt(answer: Out, rewrite: Rewriter) -> Out | None:
    """None where the answer's schema does not allow what is left."""
    data = _rewritten(answer, None, rewrite)
    if data is _GONE:
        return None
    try:
        return type(answer).model_validate(data)
    except ValidationError:
        return None


# Texts


def _foreign(text: str, role: TextRole, given: Given) -> list[ForeignCitation]:
    """What has to be complained about; not what may simply be taken out."""
    if role not in _CHECKED:
        return []
    labels = [
        one
        for one in foreign_labels(text, given.labels, lambda: given.text)
        if role is TextRole.CITES or one.kind == UNKNOWN_LABEL
    ]
    cited = [
        one
        for one in foreign_citations(without_labels(text), lambda: given.words)
        if role is not TextRole.RESTATES or text[one.start : one.end] not in given.text
    ]
    return sorted([*labels, *cited])


def _taken_out(text: str, found: Sequence[ForeignCitation]) -> str:
    """The text reads on without them as well as it can; within quotation marks an ellipsis stands for them."""
    pieces, done = [], 0
    for one in sorted(found):
        if one.start < done:
            continue
        before = text[done : one.start]
        if _is_quoted(text, one):
            pieces += [before, "…"]
        else:
            pieces += [before.rstrip(" ") if one.bracketed and not _is_label(one) else before, _instead_of(one)]
        done = one.end
    return "".join(pieces) + text[done:]


def _is_quoted(text: str, one: ForeignCitation) -> bool:
    """Whether it stands between quotation marks, where nothing may be put that its source does not say."""
    return text.rfind("“", 0, one.start) > text.rfind("”", 0, one.start) and "”" in text[one.end :]


def _is_label(one: ForeignCitation) -> bool:
    return one.kind in (UNKNOWN_LABEL, WRONG_FORM)


def _instead_of(one: ForeignCitation) -> str:
    if _is_label(one):
        return "(another paper)" if one.bracketed else "another paper"
    if one.bracketed:
        return ""
    return "(link removed)" if one.kind in ("an address", "an identifier") else "earlier work"


def _cleaned(text: str, role: TextRole, given: Given) -> str:
    text = clean_answer(text)
    if role is TextRole.RESTATES:
        cited = foreign_citations(without_labels(text), lambda: given.words)
        text = _taken_out(text, [one for one in cited if text[one.start : one.end] in given.text])
    if role in (TextRole.RESTATES, TextRole.PROSE):
        text = LABEL.sub(lambda match: match[0] if _unknown(match[1], given) else "(another paper)", text)
        meant = [one for one in foreign_labels(text, given.labels, lambda: given.text) if one.kind == WRONG_FORM]
        text = _taken_out(text, meant)
    return text


def _unknown(group: str, given: Given) -> bool:
    return not {one.strip() for one in group.replace(";", ",").split(",")} <= set(given.labels)


# Answers


def cleaned(answer: Out, given: Given) -> Out | None:
    """Nothing unseen is left in it, and what a field may not hold is taken out where that needs no complaint. None
    where the schema does not allow what can be seen of it."""
    return _rebuilt(answer, lambda text, role: _cleaned(text, role, given))


def without_foreign_citations(answer: Out, given: Given) -> Out | None:
    """For an answer that was put together from the sources' own words: their citations are taken out."""

    def rewrite(text: str, role: TextRole) -> str:
        return _taken_out(text, _foreign(text, role, given)) if role in _CHECKED else text

    visible = cleaned(answer, given)
    return None if visible is None else _rebuilt(visible, rewrite)


def foreign_complaints(answer: BaseModel, given: Given) -> list[str]:
    """In words for the model; one for each text."""
    complaints: list[str] = []

    def complain(text: str, role: TextRole) -> str:
        found = _foreign(text, role, given)
        if found:
            named = ", ".join(dict.fromkeys(f"{text[one.start : one.end][:60]!r} is {one.kind}" for one in found[:4]))
            complaints.append(f"In {text[:80]!r}: {named}. {_ADVICE[role]}")
        return text

    _rewritten(answer, None, complain)
    return complaints


_ADVICE = {
    TextRole.CITES: "Cite nothing but labels that were given, in square brackets; name no other work.",
    TextRole.RESTATES: "Say it without any citation, address or identifier.",
    TextRole.PROSE: "Say it without any citation, address or identifier.",
}


class StruckAnswer(NamedTuple):
    value: Any
    sentences: int
    """How many are left out."""


def struck(answer: Out, given: Given, check: Callable[[Out], Sequence[str]]) -> StruckAnswer | None:
    """The answer without the sentences that cite what was not given; None where too little of it is left for its
    check, or for its schema."""
    for emptied in ("item", "text", "touched item"):
        sentences = 0

        def strike(text: str, role: TextRole, emptied: Literal["item", "text", "touched item"] = emptied) -> Any:
            nonlocal sentences
            left, count = _struck_text(text, role, given)
            if not count or (left and emptied != "touched item"):
                sentences += count
                return left
            sentences += len(sentence_spans(text))
            return STRUCK if emptied == "text" and role is not TextRole.CITES else _GONE

        value = _rebuilt(answer, strike)
        if value is not None and not check(value) and not foreign_complaints(value, given):
            return StruckAnswer(value, sentences)
    return None


def _struck_text(text: str, role: TextRole, given: Given) -> tuple[str, int]:
    found = _foreign(text, role, given)
    if not found:
        return text, 0
    whole = text
    for one in found:  # no sentence ends inside a citation
        whole = whole[: one.start] + "x" * (one.end - one.start) + whole[one.end :]
    spans = sentence_spans(whole)
    kept = [(start, end) for start, end in spans if not any(one.start < end and start < one.end for one in found)]
    left = "".join(text[start:end] for start, end in kept).strip()
    return ("", len(spans)) if _foreign(left, role, given) else (left, len(spans) - len(kept))
