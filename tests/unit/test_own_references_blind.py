"""Questions about an idea's own references when it is judged blind."""

from collections.abc import Sequence

import pytest

from assayer.blinding.blind import blind_idea
from assayer.claim_support.task import SupportQuestion
from assayer.models import Paper, Window
from assayer.models.blinding import UnblindedWords
from assayer.own_references.kept_words import remove_names
from tests.in_memory import InMemorySource
from tests.unit.own_references_fixture import (
    DIAZ,
    FOX,
    LEE,
    answer_partly_supported,
    check_references,
    list_outcomes,
    make_idea,
    record,
)
from tests.unit.twins import TwinLlm
from workers.outbound.source_requests import RequestContext


async def test_passage_is_masked_while_references_are_looked_up_unmasked() -> None:
    unmasked_idea = make_idea()
    masked = unmasked_idea.model_copy(
        update={
            "text": unmasked_idea.text.replace("Rehearsal", "[masked]").replace("Ann Lee", "[masked]"),
            "unblinded": UnblindedWords(title=unmasked_idea.title, text=unmasked_idea.text),
        }
    )
    llm = TwinLlm({"support.claims": answer_partly_supported})
    references = await check_references(masked, local_papers=[LEE, DIAZ, FOX], llm=llm)
    assert list_outcomes(references) == ["found"] * 3
    assert references.entries[0].passage.startswith("[masked] recovers")


SIGNED_TEXT = """# Machines that quote

We test machines that quote. The project is led by Prof. Jane Roe. As Jane Roe has shown, machines misquote [1, 2].
We ask how often they misquote the tables and figures of papers in many fields.

## References

[1] Jane Roe, Stanford thesis on quoting machines
[2] Jane Roe and Bo Chen. Replay buffers for continual text classification. In Text Methods, 2019.

## Biography

Jane Roe studied in Stanford and wrote [the first paper on quoting machines](https://arxiv.org/abs/1706.03762).
"""


ROE = record("roe", "Replay Buffers for Continual Text Classification", "Ann Lee", 2019, authors=("Ann Lee", "Bo Chen"))


class RecordingSource(InMemorySource):
    """Source that records its search words."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        super().__init__("openalex", papers)
        self.words: list[str] = []

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        self.words.append(query)
        return await super().search(query, limit, window, context)


async def test_masked_names_are_not_sent_to_sources() -> None:
    masked = blind_idea(make_idea(SIGNED_TEXT))
    assert "Roe" not in masked.text
    source = RecordingSource([ROE])
    references = await check_references(masked, sources=[source])
    assert [entry.text[:8] for entry in references.entries] == ["Jane Roe", "Jane Roe"]
    assert source.words == [
        "Stanford thesis on quoting machines",
        "Replay buffers for continual text classification",
    ]
    # Authors are compared all the same.
    assert references.entries[1].differences == ("The entry names Jane Roe first, the record Ann Lee.",)


async def test_unblinded_idea_is_searched_with_all_its_words() -> None:
    source = RecordingSource([])
    await check_references(make_idea(SIGNED_TEXT), sources=[source])
    assert source.words[0] == "Jane Roe, Stanford thesis on quoting machines"
    assert len(source.words) == 3


async def test_passages_sent_to_the_model_are_masked() -> None:
    llm = TwinLlm({"support.claims": answer_partly_supported})
    references = await check_references(blind_idea(make_idea(SIGNED_TEXT)), local_papers=[ROE], llm=llm)
    assert references.entries[1].passage == "As [name] has shown, machines misquote [1, 2]."
    ((_, question),) = llm.requests
    assert isinstance(question, SupportQuestion)
    assert [item.claim for item in question.items] == ["As [name] has shown, machines misquote [this source]."]


@pytest.mark.parametrize(
    ("words", "min_words", "remaining_text"),
    [
        ("Roe, J., Li Wei: Quoting machines", 1, "Quoting machines"),
        ("Small models of Oliver and Li", 2, "Small models of Oliver and Li"),
        ("Notes by Jane Roe on Small models", 2, "Notes by on Small models"),
    ],
)
def test_names_are_removed_as_whole_words(words: str, min_words: int, remaining_text: str) -> None:
    names = {("Roe", "J"), ("Jane", "Roe"), ("Li", "Wei"), ("Li",), ("Small",)}
    assert remove_names(words, names, min_words=min_words) == remaining_text
