"""Questions about an idea's own references when it is judged blind."""

from collections.abc import Sequence

import pytest

from assayer.blinding.blind import blind_idea
from assayer.claim_support.task import SupportQuestion
from assayer.models import Paper, Window
from assayer.models.blinding import UnblindedWords
from assayer.own_references.kept_words import remove_names
from tests.in_memory import InMemorySource
from tests.unit.own_references_fixture import DIAZ, FOX, LEE, checked, idea, outcomes, partly, record
from tests.unit.twins import TwinLlm
from workers.outbound.source_requests import RequestContext


async def test_passage_stays_masked_while_references_are_looked_up_unmasked() -> None:
    whole = idea()
    masked = whole.model_copy(
        update={
            "text": whole.text.replace("Rehearsal", "[masked]").replace("Ann Lee", "[masked]"),
            "unblinded": UnblindedWords(title=whole.title, text=whole.text),
        }
    )
    llm = TwinLlm({"support.claims": partly})
    own = await checked(masked, local=[LEE, DIAZ, FOX], llm=llm)
    assert outcomes(own) == ["found"] * 3
    assert own.entries[0].passage.startswith("[masked] recovers")


SIGNED = """# Machines that quote

We test machines that quote. The project is led by Prof. Jane Roe. As Jane Roe has shown, machines misquote [1, 2].
We ask how often they misquote the tables and figures of papers in many fields.

## References

[1] Jane Roe, Stanford thesis on quoting machines
[2] Jane Roe and Bo Chen. Replay buffers for continual text classification. In Text Methods, 2019.

## Biography

Jane Roe studied in Stanford and wrote [the first paper on quoting machines](https://arxiv.org/abs/1706.03762).
"""


ROE = record("roe", "Replay Buffers for Continual Text Classification", "Ann Lee", 2019, authors=("Ann Lee", "Bo Chen"))


class AskedSource(InMemorySource):
    """Remembers which words it was asked for."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        super().__init__("openalex", papers)
        self.words: list[str] = []

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        self.words.append(query)
        return await super().search(query, limit, window, context)


async def test_masked_names_are_not_sent_to_sources() -> None:
    masked = blind_idea(idea(SIGNED))
    assert "Roe" not in masked.text
    source = AskedSource([ROE])
    own = await checked(masked, sources=[source])
    assert [entry.text[:8] for entry in own.entries] == ["Jane Roe", "Jane Roe"]
    assert source.words == [
        "Stanford thesis on quoting machines",
        "Replay buffers for continual text classification",
    ]
    # Authors are compared all the same.
    assert own.entries[1].differences == ("The entry names Jane Roe first, the record Ann Lee.",)


async def test_unblinded_idea_is_searched_with_all_its_words() -> None:
    source = AskedSource([])
    await checked(idea(SIGNED), sources=[source])
    assert source.words[0] == "Jane Roe, Stanford thesis on quoting machines"
    assert len(source.words) == 3


async def test_passages_sent_to_the_model_are_masked() -> None:
    llm = TwinLlm({"support.claims": partly})
    own = await checked(blind_idea(idea(SIGNED)), local=[ROE], llm=llm)
    assert own.entries[1].passage == "As [name] has shown, machines misquote [1, 2]."
    ((_, question),) = llm.asked
    assert isinstance(question, SupportQuestion)
    assert [item.claim for item in question.items] == ["As [name] has shown, machines misquote [this source]."]


@pytest.mark.parametrize(
    ("words", "min_words", "left"),
    [
        ("Roe, J., Li Wei: Quoting machines", 1, "Quoting machines"),
        ("Small models of Oliver and Li", 2, "Small models of Oliver and Li"),
        ("Notes by Jane Roe on Small models", 2, "Notes by on Small models"),
    ],
)
def test_names_are_removed_as_whole_words(words: str, min_words: int, left: str) -> None:
    names = {("Roe", "J"), ("Jane", "Roe"), ("Li", "Wei"), ("Li",), ("Small",)}
    assert remove_names(words, names, min_words=min_words) == left
