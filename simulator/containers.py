"""Nodes of a compiled schema that contain other nodes: objects, arrays, alternatives, references."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from simulator.draft import DEEPEST, Draft
from simulator.prompt import Item
from simulator.scalars import Boolean, Labelled, Node, Text

_MAX_NESTED_LABELS = 2
"""Maximum number of labels in a nested array that may be empty."""


@dataclass
class Tuple(Node):
    places: list[Node]

    def make(self, draft: Draft) -> list[Any]:
        return [place.make(draft) for place in self.places]


@dataclass
class Array(Node):
    items: Node
    least: int
    most: int | None
    unique: bool = False
    objects: bool = False
    about: Literal["nothing", "every_label", "citations", "labels"] = "nothing"
    """Content of the array. `every_label`: one object for each labelled item in the prompt; `citations`: objects that
    only cite, a few of which suffice inside another array; `labels`: only labels."""
    letter: str | None = None
    may_stay_empty: bool = False
    """Whether its description states when it is empty; inside another array, it then has entries for only some
    labels."""

    def make(self, draft: Draft) -> list[Any]:
        outer_focus = draft.focus
        items = self._choose(draft)
        if self.may_stay_empty and self.least == 0 and self.about == "every_label" and draft.depth and not items:
            return []
        draft.depth += 1
        if len(items) < max(self.least, 1):
            items = []
            values = self._unlabelled(draft)
        else:
            values = []
            for item in items:
                draft.focus = (item, *outer_focus)
                values.append(self.items.make(draft))
        draft.depth -= 1
        draft.focus = outer_focus if self.about == "every_label" else (*outer_focus, *items)
        return values

    def _choose(self, draft: Draft) -> list[Item]:
        """Return the labelled items that the array's elements are about."""
        if self.about == "nothing":
            return []
        items = draft.known(self.letter)
        focused_items = [item for item in draft.focus if item in items]
        if self.about == "labels":
            count = draft.random.randint(1, 3) if draft.depth else draft.random.randint(1, len(items) or 1)
            items = focused_items or _sample(draft, items, count)
        elif self.about == "every_label" and self.may_stay_empty and draft.depth:
            items = _sample(draft, items, draft.random.randint(0, _MAX_NESTED_LABELS))
        elif self.about == "citations" and draft.depth:
            items = focused_items or _sample(draft, items, draft.random.randint(1, 2))
        return items if self.most is None else _sample(draft, items, self.most)

    def _unlabelled(self, draft: Draft) -> list[Any]:
        """Return elements that are not about labelled items."""
        count = self._count(draft)
        values: list[Any] = []
        for _ in range(20 * count):
            if len(values) == count:
                break
            value = self.items.make(draft)
            if not (self.unique and value in values):
                values.append(value)
        if len(values) < self.least:
            raise ValueError(f"cannot generate {self.least} different items for an array of unique items")
        return values

    def _count(self, draft: Draft) -> int:
        if draft.references > DEEPEST or self.about == "labels":
            return self.least
        # `depth` includes this array.
        typical = draft.random.randint(3, 5) if self.objects and draft.depth == 1 else draft.random.randint(1, 3)
        return max(self.least, typical if self.most is None else min(typical, self.most))


def _sample(draft: Draft, items: list[Item], count: int) -> list[Item]:
    """Return at most `count` random items, in their original order."""
    if len(items) <= count:
        return items
    indices = sorted(draft.random.sample(range(len(items)), count))
    return [items[index] for index in indices]


@dataclass
class Object(Node):
    properties: dict[str, Node]
    required: list[str]
    closed: bool
    """Whether further properties are forbidden."""

    @cached_property
    def order(self) -> list[str]:
        """Order of generation: labels first, then citations, so that texts and quotes agree with them."""

        def precedence(name: str) -> int:
            node = plain(self.properties[name])
            if isinstance(node, Labelled) or (isinstance(node, Boolean) and node.relevance):
                return 0
            return 1 if isinstance(node, Array) and node.about in {"labels", "citations"} else 2

        return sorted(self.properties, key=precedence)

    def label(self) -> Labelled | None:
        """Return the label that names the item the object is about."""
        for node in map(plain, self.properties.values()):
            inner = plain(node.items) if isinstance(node, Array) else node
            if isinstance(inner, Labelled):
                return inner
        return None

    def only_cites(self) -> bool:
        """Return whether it contains only labels, and possibly quotes from the labelled items."""
        return all(
            isinstance(node, Labelled)
            or (isinstance(node, Array) and node.about == "labels")
            or (isinstance(node, Text) and node.role == "quote")
            for node in map(plain, self.properties.values())
        )

    def make(self, draft: Draft) -> dict[str, Any]:
        outer_focus, irrelevant = draft.focus, draft.irrelevant
        values = {name: self.properties[name].make(draft) for name in self.order}
        draft.focus, draft.irrelevant = outer_focus, irrelevant
        value = {name: values[name] for name in self.properties}
        if draft.counting:
            self._damage(draft, value)
        return value

    def _damage(self, draft: Draft, value: dict[str, Any]) -> None:
        for name in self.required:
            if draft.strikes("missing_field"):
                del value[name]
        if self.closed and draft.strikes("extra_field"):
            value["comment" if "comment" not in self.properties else "remark_of_the_model"] = "Added unasked."


@dataclass
class Mapping(Node):
    """Object with arbitrary keys."""

    keys: Node
    values: Node
    least: int
    most: int

    def make(self, draft: Draft) -> dict[str, Any]:
        count = min(max(self.least, 1 + draft.random.randrange(3)), self.most)
        keys: dict[str, Any] = {}
        for _ in range(20 * count):
            if len(keys) >= count:
                break
            keys[str(self.keys.make(draft))] = None
        return {key: self.values.make(draft) for key in keys}


@dataclass
class OneOf(Node):
    """Node for anyOf and oneOf. If null is allowed, it is chosen one time in four."""

    branches: list[Node]
    ends: list[Node]
    """Branches that are not recursive."""
    nullable: bool

    def make(self, draft: Draft) -> Any:
        if self.nullable and (draft.references > DEEPEST or draft.random.random() < 0.25):
            return None
        branches = (self.ends or self.branches) if draft.references > DEEPEST else self.branches
        several = len(self.branches) > 1
        draft.sheltered += several
        value = draft.random.choice(branches).make(draft)
        draft.sheltered -= several
        return value


@dataclass
class Reference(Node):
    """Reference to a named part of the schema, which may contain itself."""

    pointer: str
    parts: dict[str, Node] = field(repr=False)

    def make(self, draft: Draft) -> Any:
        draft.references += 1
        if draft.references > 10 * DEEPEST:
            raise ValueError(f"{self.pointer} is infinitely recursive")
        value = self.parts[self.pointer].make(draft)
        draft.references -= 1
        return value


def plain(node: Node | None) -> Node | None:
    """Resolve references and an optional null; None inside a part that is still being compiled."""
    while node is not None:
        if isinstance(node, Reference):
            node = node.parts.get(node.pointer)
        elif isinstance(node, OneOf) and len(node.branches) == 1:
            node = node.branches[0]
        else:
            break
    return node
