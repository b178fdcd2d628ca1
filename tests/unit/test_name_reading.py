"""A language model is asked for the names that the masking rules leave; only what stands in the text is masked."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.errors import MalformedAnswer
from assayer.ideas.parsing import parse_idea
from assayer.llm import NoLlm
from assayer.models import Idea
from assayer.name_reading.reading import NAMES, NamesAnswer, NamesQuestion, mask_remaining_names
from assayer.own_references.kept_words import keep_words
from tests.unit.twins import TwinLlm, make_run

BODY = "We rehearse what the next round of training would overwrite, as bees do in a garden. " * 4
TEXT = f"""# Rehearsal in gardens

Authors: Jane Roe, University of Turin

{BODY}

Our method follows Nguyen (2019). The pilot was run with Qwfp Zxcvbn in Oslo, and Zxcvbn still keeps the hives.
سارة الحربي helped us to count.
"""


async def read(*names: str) -> Idea:
    llm = TwinLlm({NAMES.name: lambda _: NamesAnswer(people=list(names))})
    idea = await mask_remaining_names(blind_idea(parse_idea(TEXT, "idea.md")), llm, make_run())
    (question,) = llm.list_questions(NamesQuestion)
    assert "Jane Roe" not in question.idea
    return idea


async def test_names_in_the_text_are_masked_in_all_forms_and_recorded() -> None:
    idea = await read("Qwfp Zxcvbn", "سارة الحربي")
    for unmasked_name in ("Qwfp", "Zxcvbn", "الحربي"):
        assert unmasked_name not in idea.text + "".join(section.text for section in idea.sections)
    assert "[name] still keeps the hives" in idea.text
    assert idea.blinding is not None
    assert idea.blinding.checked_by_model
    assert not idea.blinding.names_may_remain
    assert {"Jane Roe, University of Turin", "Qwfp Zxcvbn"} <= {
        item.text.removeprefix("Authors: ") for item in idea.blinding.masked
    }
    assert ("Zxcvbn",) in keep_words(idea).masked_names


@pytest.mark.parametrize(
    "name", ["Ada Byron", "bees", "We", "Nguyen", "We rehearse what the next round of training", "", "[name]", "7"]
)
async def test_words_that_are_not_names_are_not_masked(name: str) -> None:
    before = blind_idea(parse_idea(TEXT, "idea.md")).text
    assert (await read(name)).text == before


async def test_names_may_remain_if_the_model_does_not_answer() -> None:
    masked = blind_idea(parse_idea(f"{BODY} The hives are those of Qwfp Zxcvbn.", "idea.md"))
    llm, run = TwinLlm(failing={NAMES.name: MalformedAnswer("no JSON")}), make_run()
    assert await mask_remaining_names(masked, llm, run) == masked
    assert masked.blinding is not None
    assert masked.blinding.names_may_remain
    assert run.journal.failed_calls


async def test_no_request_is_sent_without_a_model_or_for_an_unmasked_idea() -> None:
    idea = parse_idea(TEXT, "idea.md")
    assert await mask_remaining_names(blind_idea(idea), NoLlm(), make_run()) == blind_idea(idea)
    assert await mask_remaining_names(idea, llm := TwinLlm(), make_run()) == idea
    assert llm.requests == []
