"""Mask the names that a language model finds in an idea after the rules were applied. Only words that occur in the idea
are masked."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.llm import Llm, Task, ask
from assayer.models import Frozen, Idea
from assayer.prompts import Prompts
from assayer.run.concurrency import Failed, catch_failure
from assayer.run.run import Run
from assayer.text.content_words import is_grammar

_MAX_NAMES = 30
_MAX_WORDS = 6
_WORD = re.compile(r"[^\W\d_]+")


async def mask_remaining_names(idea: Idea, llm: Llm, run: Run) -> Idea:
    """Return a masked idea in which the names found by the model are masked too. If the model does not answer, the idea
    is returned unchanged."""
    if idea.blinding is None or not llm.models:
        return idea
    text = f"{idea.title}\n\n{idea.text}"
    answer = await catch_failure(ask(llm, NAMES, NamesQuestion(idea=text), run))
    if isinstance(answer, Failed):
        run.journal.record_failure("search for names that the masking rules left", answer.error)
        return idea
    from assayer.blinding.blind import mask_more_names

    return await asyncio.to_thread(mask_more_names, idea, list(_keep_plausible_names(answer.people, text)))


def _keep_plausible_names(names: Sequence[str], text: str) -> Iterator[str]:
    """Yield the names that occur in the text and have the form of a name: a few words, none of them in lower case
    except particles, and not all of them ordinary words of the text."""
    from assayer.blinding.mentions import find_small_words
    from assayer.blinding.names import PARTICLES

    small = find_small_words(text)
    for name in dict.fromkeys(" ".join(name.strip(" ,;:*_").split()) for name in names[:_MAX_NAMES]):
        words = _WORD.findall(name)
        ordinary = all(word.lower() in small or is_grammar(word.lower()) for word in words)
        is_name = all(not word[0].islower() or word in PARTICLES for word in words)
        if len(name) > 1 and 0 < len(words) <= _MAX_WORDS and is_name and not ordinary and name in text:
            yield name


class NamesQuestion(Frozen):
    idea: str


class NamesAnswer(Frozen):
    people: list[Annotated[str, TextRole.COPIED]] = Field(description="Names copied from the text; may be empty.")


NAMES = Task[NamesQuestion, NamesAnswer](
    "blinding.names", Prompts("assayer.name_reading"), "names.v1.md", NamesAnswer, max_tokens=800
)
"""Task that asks for the names left in an idea."""
