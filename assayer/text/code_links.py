"""Sentences that say where code lies. Authors add them once they are accepted, so that they tell an outcome and no
quality: in ICLR abstracts of 2022 as they stand today 0.42 links each where accepted, 0.04 where rejected."""

from assayer.text.sentences import sentence_spans

__all__ = ["without_code_links"]

_LINKS = ("http", "www.", "github", ".com", ".io/")
_OFFERS = ("available", "release", "open-source")


def without_code_links(text: str) -> str:
    """The text without those sentences; what is left stays as it is."""
    for start, end in reversed(sentence_spans(text)):
        if _tells_of_code(text[start:end].casefold()):
            text = text[:start] + text[end:]
    return text.strip()


def _tells_of_code(sentence: str) -> bool:
    return any(mark in sentence for mark in _LINKS) or (
        "code" in sentence and any(word in sentence for word in _OFFERS)
    )
