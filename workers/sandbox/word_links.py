"""Targets of links in a Word document: of `w:hyperlink`, and of fields with the instruction HYPERLINK.

Runs in the sandboxed process."""

import re
from typing import NamedTuple

from lxml import etree

from workers.sandbox.office_package import OfficePackage, find_children, get_attribute, get_local_name

_INSTRUCTION = re.compile(r"\s*HYPERLINK\s+\"?(?P<target>[^\"\s]{1,2000})", re.IGNORECASE)
_MAX_INSTRUCTION_CHARS = 4_000


class _Field(NamedTuple):
    instruction: str = ""
    has_begun: bool = False
    """Whether the text that the field shows has begun."""


class WordLinks:
    """Links of one part. Fields that stand inside others, as links in a bibliography do, are followed too."""

    def __init__(self, package: OfficePackage, part: str) -> None:
        folder, _, name = part.rpartition("/")
        self._targets = {
            get_attribute(relation, "Id"): get_attribute(relation, "Target") or ""
            for relation in find_children(
                package.parse_part(f"{folder}/_rels/{name}.rels", recover=True), "Relationship"
            )
        }
        self._fields: list[_Field] = []

    def get_target(self, link: etree._Element) -> str:
        """Return the target of a `w:hyperlink` or `w:fldSimple` element; empty if it has none outside the document."""
        if get_local_name(link) == "fldSimple":
            return _parse_target(get_attribute(link, "instr") or "")
        return self._targets.get(get_attribute(link, "id"), "")

    def read_field(self, element: etree._Element) -> str:
        """Follow the parts of a field in the order of the text. Return the target of the text after this part."""
        kind = get_attribute(element, "fldCharType")
        if get_local_name(element) == "instrText":
            self._fields[-1:] = [
                field._replace(instruction=(field.instruction + (element.text or ""))[:_MAX_INSTRUCTION_CHARS])
                for field in self._fields[-1:]
            ]
        elif kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate":
            self._fields[-1:] = [field._replace(has_begun=True) for field in self._fields[-1:]]
        elif kind == "end":
            self._fields[-1:] = []
        targets = (_parse_target(field.instruction) for field in reversed(self._fields) if field.has_begun)
        return next(filter(None, targets), "")


def _parse_target(instruction: str) -> str:
    match = _INSTRUCTION.match(instruction)
    return match["target"] if match else ""
