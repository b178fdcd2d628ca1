"""LLM task that extracts a paper's names and claims. Without a model, patterns find them (`assayer.text.contents`)."""

from assayer.content_reading.reading import ContentAnswer, ContentQuestion, locate_contents
from assayer.llm import Task
from assayer.prompts import Prompts


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
