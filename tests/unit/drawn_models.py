"""Pydantic models as hypothesis draws them: fields of every kind, nested, bounded, with patterns."""

import datetime as dt
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Colour(Enum):
    RED = "red"
    BLUE = "blue"


def _draw_bounded_type(kind: Any, field: Callable[..., Any], minimum: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(minimum, st.integers(0, 30)).map(lambda pair: Annotated[kind, field(pair[0], pair[0] + pair[1])])


LEAF_TYPES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([str, int, float, bool, type(None), dt.date, dt.datetime, _Colour]),
    st.sampled_from([Literal["x", "y"], Literal[1, 2, 3], Literal["only"], Literal["Yes", 1, None]]),
    st.sampled_from([r"^P\d+$", r"^\[P\d+\]$", r"^[a-z]{2,4}-\d{3}$", r"^(?:ab|cd)+$", r"\w+@\w+\.org"]).map(
        lambda pattern: Annotated[str, Field(pattern=pattern)]
    ),
    _draw_bounded_type(int, lambda low, high: Field(ge=low, le=high), st.integers(-50, 50)),
    _draw_bounded_type(int, lambda low, high: Field(gt=low, lt=high + 2), st.integers(-50, 50)),
    _draw_bounded_type(float, lambda low, high: Field(gt=low, lt=high + 1), st.integers(-50, 50)),
    _draw_bounded_type(float, lambda low, high: Field(ge=low, le=high), st.integers(-50, 50)),
    _draw_bounded_type(str, lambda low, high: Field(min_length=low, max_length=high), st.integers(0, 400)),
    st.integers(2, 7).map(lambda step: Annotated[int, Field(multiple_of=step, ge=-20, le=20)]),
)


def _list(kind: Any, min_length: int, extra_length: int) -> Any:
    alias: Any = list.__class_getitem__(kind)
    return Annotated[alias, Field(min_length=min_length, max_length=min_length + extra_length)]


def extend_types(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(list.__class_getitem__),
        inner.map(lambda kind: kind | None),
        inner.map(lambda kind: dict.__class_getitem__((str, kind))),
        st.tuples(inner, inner).map(tuple.__class_getitem__),
        st.builds(_list, inner, st.integers(0, 4), st.integers(0, 4)),
        draw_models(inner),
    )


_NAMES = st.sampled_from(
    ["label", "paper", "labels", "quote", "name", "query", "queries", "statements", "relevant", "score", "text", "x"]
)


def _create_model(kinds: dict[str, Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in kinds.items()}
    return create_model("Made", __base__=Strict, **fields)


def draw_models(fields: st.SearchStrategy[Any]) -> st.SearchStrategy[type[BaseModel]]:
    return st.dictionaries(_NAMES, fields, min_size=1, max_size=4).map(_create_model)
