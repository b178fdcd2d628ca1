"""Removal of sentences that say where code is published. Authors add them after acceptance, so they reveal the outcome
and say little about quality: abstracts of ICLR 2022 now have 0.42 links on average if accepted, 0.04 if rejected."""

from assayer.text.sentences import sentence_spans

_LINKS = ("http", "www.", "github", ".com", ".io/")
_OFFERS = ("available", "release", "open-source")


def remove_code_links(text: str) -> str:
    """Return the text without the sentences that state where code is published; the rest is unchanged."""
    for start, end in reversed(sentence_spans(text)):
        if _is_code_announcement(text[start:end].casefold()):
            text = text[:start] + text[end:]
    return text.strip()


def _is_code_announcement(sentence: str) -> bool:
    return any(mark in sentence for mark in _LINKS) or (
        "code" in sentence and any(word in sentence for word in _OFFERS)
    )
