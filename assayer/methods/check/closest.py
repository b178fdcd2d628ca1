"""Find the papers closest to a plan, each with its sentence that is nearest in meaning to one of the plan's."""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

from assayer.citing.evidence import Evidence, build_citation, check_quote
from assayer.citing.labels import strip_citations
from assayer.methods.check.text_matching import Paragraph, compute_similarity, truncate_words
from assayer.models import Citation, NearPassage, PaperId
from assayer.ports import Embedder
from assayer.text.sentences import sentences

_QUOTE_WORDS = 40
_OWN_WORDS = 24
_PART_WORDS = 120


class Nearest(NamedTuple):
    """The sentence in a paper that is nearest to a sentence in the plan."""

    evidence: Evidence
    part: str
    own: str
    quote: Citation
    cosine: float

    @property
    def paper_id(self) -> PaperId:
        return self.evidence.paper_id

    def build_passage(self, in_references: bool | None) -> NearPassage:
        return NearPassage(
            part=self.part,
            plan=self.own,
            similarity=round(self.cosine, 4),
            paper=self.quote,
            is_cited_by_plan=in_references,
        )


async def find_closest_passages(
    parts: Sequence[Paragraph], evidence: Sequence[Evidence], embedder: Embedder
) -> list[Nearest]:
    """Return each paper's nearest sentence, nearest paper first. Papers without a quotable sentence are left out."""
    plan_sentences = [
        (_name_part(part), sentence)
        for part in parts
        for sentence in sentences(part.text) or [truncate_words(part.text, _PART_WORDS)]
    ]
    nearest = await asyncio.gather(*(_find_nearest_sentence(plan_sentences, item, embedder) for item in evidence))
    return sorted((item for item in nearest if item is not None), key=lambda item: (-item.cosine, item.paper_id))


async def _find_nearest_sentence(
    plan_sentences: Sequence[tuple[str, str]], item: Evidence, embedder: Embedder
) -> Nearest | None:
    evidence_sentences = sentences(item.text) or [item.text]
    cosines = await compute_similarity([sentence for _, sentence in plan_sentences], evidence_sentences, embedder)
    for flat_index in (-cosines).argsort(axis=None, kind="stable")[:_ATTEMPTS].tolist():
        row, column = divmod(flat_index, len(evidence_sentences))
        quote = check_quote(truncate_words(evidence_sentences[column], _QUOTE_WORDS, ellipsis=""), item)
        if quote is not None and quote.state == "verified":
            part, sentence = plan_sentences[row]
            return Nearest(
                item,
                strip_citations(part),
                strip_citations(truncate_words(sentence, _OWN_WORDS)),
                build_citation(item.paper_id, quote),
                float(cosines[row, column]),
            )
    return None


_ATTEMPTS = 8
"""Maximum number of sentence pairs to try, nearest first; some sentences, such as titles, must not be quoted."""


def _name_part(part: Paragraph) -> str:
    """Return the paragraph's heading or first words. Quotation marks are removed, since cutting could leave one
    unpaired."""
    beginning = part.heading or truncate_words(part.text.replace("**", ""), 9)
    return re.sub('["“”„«»]', "", beginning)
