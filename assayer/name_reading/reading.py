"""Mask the names that a language model finds in an idea after the rules were applied. Only words that occur in the idea
are masked."""

import asyncio
import re
from collections.abc import Iterator, Sequence

from assayer.llm import Llm, ask
from assayer.models import Idea
from assayer.name_reading.task import NAMES, NamesQuestion
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
