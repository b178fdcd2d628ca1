"""Nodes of a compiled schema that generate single values, which are valid unless a fault is to be applied."""

import datetime as dt
import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from simulator.draft import Draft
from simulator.patterns import generate_match
from simulator.roles import Role
from simulator.text import clip


class Node(ABC):
    @abstractmethod
    def make(self, draft: Draft) -> Any: ...


@dataclass
class Choice(Node):
    """Node for enum and const."""

    values: list[Any]

    def make(self, draft: Draft) -> Any:
        value = draft.random.choice(self.values)
        if draft.is_irrelevant and "neutral" in self.values:
            value = "neutral"
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return value
        if draft.should_inject("wrong_enum"):
            return self._change_choice(value)
        if isinstance(value, str) and value.upper() not in self.values and draft.should_inject("respelled_choice"):
            return value.upper()
        return value

    def _change_choice(self, allowed_value: str | float) -> str | float:
        if not isinstance(allowed_value, str):
            return max(value for value in self.values if isinstance(value, int | float)) + 1
        return f"mostly {allowed_value}"


@dataclass
class Boolean(Node):
    """Boolean that is true seven times in ten."""

    is_relevance: bool = False
    """Whether false means that the object's subject is irrelevant."""

    def make(self, draft: Draft) -> bool:
        value = draft.random.random() < 0.7
        if self.is_relevance:
            draft.is_irrelevant = not value
        return value


@dataclass
class Number(Node):
    lowest: float
    highest: float
    is_whole: bool
    step: float | None = None
    closed: tuple[bool, bool] = (True, True)
    """Whether the bounds themselves are allowed; for whole numbers they always are."""

    def make(self, draft: Draft) -> Any:
        value = self._draw(draft)
        return str(value) if draft.should_inject("string_number") else value

    def _draw(self, draft: Draft) -> float:
        if self.step is not None:
            min_steps, max_steps = math.ceil(self.lowest / self.step), math.floor(self.highest / self.step)
            min_steps += min_steps * self.step <= self.lowest and not self.closed[0]
            max_steps -= max_steps * self.step >= self.highest and not self.closed[1]
            for _ in range(50):
                value = draft.random.randint(min_steps, max_steps) * self.step
                if value % 1 == 0 or (value / self.step).is_integer():  # 3 * 0.1 is not a multiple of 0.1
                    break
            return value
        if self.is_whole:
            return draft.random.randint(int(self.lowest), int(self.highest))
        exact = self.lowest + (0.001 + 0.998 * draft.random.random()) * (self.highest - self.lowest)
        rounded_value = round(exact, 2)
        return rounded_value if self.lowest < rounded_value < self.highest else exact


@dataclass
class Labelled(Node):
    """Label of an item in the prompt, in brackets if the pattern requires them."""

    letter: str | None
    is_bracketed: bool = False

    def make(self, draft: Draft) -> str:
        item = draft.choose_item(self.letter)
        if item is None:
            label = f"{self.letter or 'P'}1"
        elif draft.should_inject("unknown_label"):
            label = draft.make_unknown_label(item.letter)
        else:
            draft.focus = (*draft.focus, item)
            label = item.label
        return f"[{label}]" if self.is_bracketed else label


@dataclass
class Text(Node):
    role: Role
    cites: bool = False
    min_length: int = 0
    max_length: int | None = None
    usual_length: tuple[int, int] = (0, 300)
    """Minimum and maximum number of characters derived from the description."""
    may_stay_empty: bool = False

    def make(self, draft: Draft) -> str:
        if draft.is_irrelevant and self.may_stay_empty and self.min_length == 0:
            return ""
        max_length = self.usual_length[1] if self.max_length is None else min(self.usual_length[1], self.max_length)
        text = self._fit_length(self._draw_text(draft, max_length), max_length)
        # Short texts are unchanged, because the brackets would leave no room for their content.
        if self.role == "text" and max_length > 120 and draft.should_inject("brackets_in_strings"):
            return draft.append_brackets(text, max_length)
        return text

    def _draw_text(self, draft: Draft, max_length: int) -> str:  # noqa: PLR0911 - one case per role
        match self.role:
            case "quote":
                return draft.draw_quote()
            case "name":
                return draft.draw_name()
            case "query":
                return draft.draw_query(self.usual_length[0])
            case "statement":
                return draft.draw_statement(self.usual_length[0])
            case "question":
                return draft.draw_question()
            case "plan":
                return draft.draw_plan(self.usual_length[0])
            case "text" | "label":
                return draft.draw_text(self.cites, max_length)

    def _fit_length(self, text: str, max_length: int) -> str:
        if len(text) < self.min_length:
            text = (text + " ") * math.ceil(self.min_length / (len(text) + 1))
            text = text[: self.min_length].rstrip().ljust(self.min_length, "s")
        max_length = (
            max(max_length, self.min_length) if self.role != "quote" or self.max_length is not None else len(text)
        )
        if len(text) > max_length:
            clipped_text = clip(text, max_length).rstrip()
            text = clipped_text if len(clipped_text) >= self.min_length else text[:max_length]
        return text


@dataclass
class Patterned(Node):
    pattern: str
    min_length: int
    max_length: int | None

    def make(self, draft: Draft) -> str:
        for _ in range(200):
            text = generate_match(self.pattern, draft.random)
            has_allowed_length = len(text) >= self.min_length and (
                self.max_length is None or len(text) <= self.max_length
            )
            if has_allowed_length and re.search(self.pattern, text):
                return text
        raise ValueError(f"cannot generate a string of the allowed length for pattern {self.pattern!r}")


FORMATS = frozenset({"date", "date-time", "time", "uuid", "email", "uri"})


@dataclass
class Formatted(Node):
    format: str

    def make(self, draft: Draft) -> str:
        number = draft.random.getrandbits(128)
        moment = dt.datetime(2000, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=number % 800_000_000)
        match self.format:
            case "date":
                return moment.date().isoformat()
            case "date-time":
                return moment.isoformat()
            case "time":
                return moment.time().isoformat() + "Z"
            case "uuid":
                return str(UUID(int=number, version=4))
            case "email":
                return f"someone{number % 1000}@example.org"
            case _:
                return f"https://example.org/{number % 1000}"
