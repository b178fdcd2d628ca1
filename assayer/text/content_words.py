"""Content words, distinguished from grammar words."""

import re
from functools import lru_cache

from assayer.text.scripts import WORD_LETTER

_WORD = re.compile(rf"{WORD_LETTER}+")
_GRAMMAR = frozenset(
    """
    a about above after again all also although an and any are as at be because been before being below between
    both but by can could did do does doing done due during each either et few for from further had has have
    having he her here his how however i if in into is it its itself just less like many may might more most much
    must my neither no nor not of off often on one only or other our out over own per same several shall she
    should since so some such than that the their them then there therefore these they this those through thus to
    too two under until up upon us use used using very via was we were what when where whether which while who
    whose why will with within without would yet you your
    """.split()  # noqa: SIM905 - a list of words reads better so
)
"""Grammar words, which carry no content by themselves."""


@lru_cache(maxsize=2_048)
def content_words(text: str) -> frozenset[str]:
    """Return the content words in lower case, each once, including numbers. Results are cached, because the points of a
    report are compared with the same statements."""
    words = _WORD.findall(text.casefold())
    return frozenset(word for word in words if word not in _GRAMMAR and (len(word) > 2 or word[0].isdigit()))


def is_grammar(word: str) -> bool:
    """Return whether an English word in lower case is a grammar word, which carries no content."""
    return word in _GRAMMAR
