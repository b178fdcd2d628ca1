"""LLM task that extracts a paper's names and claims, and drops those that do not occur in the paper. Without a model,
patterns find them (`assayer.text.contents`)."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.quotes import find_quote
from assayer.llm import Task
from assayer.models import ContentKind, Frozen
from assayer.prompts import Prompts
from assayer.text.contents import MAX_CLAIMS, MAX_NAMES, FoundContents, Mention, TextPart, text_with_title
from assayer.text.names import normalise_name
from assayer.text.sentences import sentence_spans


class ContentQuestion(Frozen):
    title: str
    abstract: str


class ReadName(Frozen):
    name: Annotated[str, TextRole.COPIED] = Field(description="One unbroken stretch of the abstract or the title.")
    kind: ContentKind = Field(
        description="method: can be applied, run or measured with, as data sets and measures too. concept: is studied."
    )
    role: Literal["introduced", "built_on", "other"] = Field(
        description="introduced: new with this paper. built_on: what is introduced is a changed or extended form of "
        "it, or has it as a main part, by the text's own words. In doubt other."
    )


class ContentAnswer(Frozen):
    names: list[ReadName] = Field(description="At most 16, usually five to ten, the most central first.")
    claims: list[Annotated[str, TextRole.COPIED]] = Field(
        description="At most 3 sentences of the abstract, copied exactly, that tell an outcome; may be empty."
    )


_MAX_NAME_CHARS = 60


def locate_contents(question: ContentQuestion, answer: ContentAnswer) -> FoundContents:
    """Return each name with the first sentence that contains it, and each claim whose words occur consecutively in the
    paper."""
    after = len(question.title) + 1
    text = text_with_title(question.title, question.abstract)
    sentences = [TextPart(after + start, after + end) for start, end in sentence_spans(question.abstract)]
    parts = [
        (part, f" {normalise_name(text[part.start : part.end])} ")
        for part in (TextPart(0, len(question.title)), *sentences)
    ]
    mentions: dict[tuple[ContentKind, str], Mention] = {}
    for item in answer.names:
        name, normalised = " ".join(item.name.split()), normalise_name(item.name)
        first_part = next((part for part, words in parts if f" {normalised} " in words), None)
        if first_part is not None and normalised and len(name) <= _MAX_NAME_CHARS:
            found = Mention(item.kind, name, normalised, item.role == "introduced", item.role == "built_on", first_part)
            mentions.setdefault((item.kind, normalised), found)
    claims = dict.fromkeys(_claims(question.abstract, answer.claims, after))
    return FoundContents(list(mentions.values())[:MAX_NAMES], sorted(list(claims)[:MAX_CLAIMS]))


def _claims(abstract: str, quotes: list[str], after: int) -> Iterator[TextPart]:
    for quote in quotes:
        whole = next((spans[0] for spans in find_quote(quote, abstract) if len(spans) == 1), None)
        if whole is not None:
            yield TextPart(after + whole.start, after + whole.end)


def _check(question: ContentQuestion, answer: ContentAnswer) -> list[str]:
    """Return complaints only if no name or claim of the answer is valid. Otherwise invalid items are dropped
    without paying for a second answer."""
    if not (answer.names or answer.claims):
        return []
    found = locate_contents(question, answer)
    if found.mentions or found.claims:
        return []
    return ["None of the names and claims stands in the title or abstract: copy them from there."]


CONTENTS = Task[ContentQuestion, ContentAnswer](
    "corpus.contents",
    Prompts("assayer.content_reading"),
    "contents.v2.md",
    ContentAnswer,
    max_tokens=1_200,
    check=_check,
)
