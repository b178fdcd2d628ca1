"""Nodes of a compiled schema that contain other nodes: objects, arrays, alternatives, references."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from simulator.draft import MAX_REFERENCE_DEPTH, Draft
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
    min_items: int
    max_items: int | None
    is_unique: bool = False
    has_objects: bool = False
    content: Literal["nothing", "every_label", "citations", "labels"] = "nothing"
    """Content of the array. `every_label`: one object for each labelled item in the prompt; `citations`: objects that
    only cite, a few of which suffice inside another array; `labels`: only labels."""
    letter: str | None = None
    may_stay_empty: bool = False
    """Whether its description states when it is empty; inside another array, it then has entries for only some
    labels."""

    def make(self, draft: Draft) -> list[Any]:
        outer_focus = draft.focus
        items = self._choose_items(draft)
        if self.may_stay_empty and self.min_items == 0 and self.content == "every_label" and draft.depth and not items:
            return []
        draft.depth += 1
        if len(items) < max(self.min_items, 1):
            items = []
            values = self._make_unlabelled(draft)
        else:
            values = []
            for item in items:
                draft.focus = (item, *outer_focus)
                values.append(self.items.make(draft))
        draft.depth -= 1
        draft.focus = outer_focus if self.content == "every_label" else (*outer_focus, *items)
        return values

    def _choose_items(self, draft: Draft) -> list[Item]:
        """Return the labelled items that the array's elements are about."""
        if self.content == "nothing":
            return []
        items = draft.list_items(self.letter)
        focused_items = [item for item in draft.focus if item in items]
        if self.content == "labels":
            count = draft.random.randint(1, 3) if draft.depth else draft.random.randint(1, len(items) or 1)
            items = focused_items or _sample(draft, items, count)
        elif self.content == "every_label" and self.may_stay_empty and draft.depth:
            items = _sample(draft, items, draft.random.randint(0, _MAX_NESTED_LABELS))
        elif self.content == "citations" and draft.depth:
            items = focused_items or _sample(draft, items, draft.random.randint(1, 2))
        return items if self.max_items is None else _sample(draft, items, self.max_items)

    def _make_unlabelled(self, draft: Draft) -> list[Any]:
        """Return elements that are not about labelled items."""
        count = self._draw_count(draft)
        values: list[Any] = []
        for _ in range(20 * count):
            if len(values) == count:
                break
            value = self.items.make(draft)
            if not (self.is_unique and value in values):
                values.append(value)
        if len(values) < self.min_items:
            raise ValueError(f"cannot generate {self.min_items} different items for an array of unique items")
        return values

    def _draw_count(self, draft: Draft) -> int:
        if draft.references > MAX_REFERENCE_DEPTH or self.content == "labels":
            return self.min_items
        # `depth` includes this array.
        typical = draft.random.randint(3, 5) if self.has_objects and draft.depth == 1 else draft.random.randint(1, 3)
        return max(self.min_items, typical if self.max_items is None else min(typical, self.max_items))


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
    is_closed: bool
    """Whether further properties are forbidden."""

    @cached_property
    def order(self) -> list[str]:
        """Order of generation: labels first, then citations, so that texts and quotes agree with them."""

        def get_precedence(name: str) -> int:
            node = resolve(self.properties[name])
            if isinstance(node, Labelled) or (isinstance(node, Boolean) and node.is_relevance):
                return 0
            return 1 if isinstance(node, Array) and node.content in {"labels", "citations"} else 2

        return sorted(self.properties, key=get_precedence)

    def find_label(self) -> Labelled | None:
        """Return the label that names the item the object is about."""
        for node in map(resolve, self.properties.values()):
            inner = resolve(node.items) if isinstance(node, Array) else node
            if isinstance(inner, Labelled):
                return inner
        return None

    def only_cites(self) -> bool:
        """Return whether it contains only labels, and possibly quotes from the labelled items."""
        return all(
            isinstance(node, Labelled)
            or (isinstance(node, Array) and node.content == "labels")
            or (isinstance(node, Text) and node.role == "quote")
            for node in map(resolve, self.properties.values())
        )

    def make(self, draft: Draft) -> dict[str, Any]:
        outer_focus, irrelevant = draft.focus, draft.is_irrelevant
        values = {name: self.properties[name].make(draft) for name in self.order}
        draft.focus, draft.is_irrelevant = outer_focus, irrelevant
        value = {name: values[name] for name in self.properties}
        if draft.counts_faults:
            self._inject_faults(draft, value)
        return value

    def _inject_faults(self, draft: Draft, value: dict[str, Any]) -> None:
        for name in self.required:
            if draft.should_inject("missing_field"):
                del value[name]
        if self.is_closed and draft.should_inject("extra_field"):
            value["comment" if "comment" not in self.properties else "remark_of_the_model"] = "Added unasked."


@dataclass
class Mapping(Node):
    """Object with arbitrary keys."""

    keys: Node
    values: Node
    min_keys: int
    max_keys: int

    def make(self, draft: Draft) -> dict[str, Any]:
        count = min(max(self.min_keys, 1 + draft.random.randrange(3)), self.max_keys)
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
    finite_branches: list[Node]
    """Branches that are not recursive."""
    is_nullable: bool

    def make(self, draft: Draft) -> Any:
        if self.is_nullable and (draft.references > MAX_REFERENCE_DEPTH or draft.random.random() < 0.25):
            return None
        branches = (self.finite_branches or self.branches) if draft.references > MAX_REFERENCE_DEPTH else self.branches
        has_alternatives = len(self.branches) > 1
        draft.alternative_depth += has_alternatives
        value = draft.random.choice(branches).make(draft)
        draft.alternative_depth -= has_alternatives
        return value


@dataclass
class Reference(Node):
    """Reference to a named part of the schema, which may contain itself."""

    pointer: str
    parts: dict[str, Node] = field(repr=False)

    def make(self, draft: Draft) -> Any:
        draft.references += 1
        if draft.references > 10 * MAX_REFERENCE_DEPTH:
            raise ValueError(f"{self.pointer} is infinitely recursive")
        value = self.parts[self.pointer].make(draft)
        draft.references -= 1
        return value


def resolve(node: Node | None) -> Node | None:
    """Resolve references and an optional null; None inside a part that is still being compiled."""
    while node is not None:
        if isinstance(node, Reference):
            node = node.parts.get(node.pointer)
        elif isinstance(node, OneOf) and len(node.branches) == 1:
            node = node.branches[0]
        else:
            break
    return node
