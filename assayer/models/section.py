"""Titled section of an idea, a document or a paper."""

from assayer.models.base import Frozen


class Section(Frozen):
    """Titled section of an idea, a document or a paper."""

    title: str
    text: str
