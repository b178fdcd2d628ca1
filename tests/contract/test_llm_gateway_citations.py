"""A citation of what was not given is complained about; what stays after all attempts is redacted and counted, in an
answer that is not lost for it."""

import pytest

from assayer.citing.answer_texts import REDACTED_REASON
from assayer.errors import LlmRejected, MalformedAnswer
from assayer.llm import ask
from tests.contract.llm_gateways import create_gateway
from tests.contract.scripted_llm import ScriptedLlm, refuse, say
from tests.contract.weighing import WEIGHING, a_question, a_run, an_answer
from workers.outbound.store import InMemoryAnswerStore

SOUND = "All {good}."


def _answer(remark: str) -> str:
    return an_answer().replace("All [P1] {good}.", remark)


FOREIGN = say(_answer("It holds. Smith et al. (2021) saw it."))


async def test_unknown_citation_is_reported_to_the_model_for_correction() -> None:
    async with ScriptedLlm(FOREIGN, say(_answer(SOUND))) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
        repair_text = llm.requests[1]["messages"][-1]["content"]
    assert "'Smith et al. (2021)' is an author and a year" in repair_text
    assert answer.value.remark == SOUND
    assert ([fault.kind for fault in answer.record.faults], answer.record.redacted) == (["failed_check"], 0)


async def test_remaining_unknown_citations_are_redacted_and_counted() -> None:
    answers, runs = InMemoryAnswerStore(), [a_run(), a_run("again")]
    async with ScriptedLlm(otherwise=lambda _: FOREIGN) as llm, create_gateway(llm, answers) as gateway:
        values = [await ask(gateway, WEIGHING, a_question(), run) for run in runs]
        assert len(llm.requests) == 3
    assert [value.remark for value in values] == ["It holds.", "It holds."]
    for run in runs:
        (dropped,) = run.journal.list_dropped()
        assert (dropped.item_kind, dropped.count, dropped.reason) == ("sentence", 1, REDACTED_REASON)
    assert [call.cached for run in runs for call in run.journal.calls] == [False, True]


async def test_worse_retry_does_not_replace_a_usable_answer() -> None:
    worse = (say("No."), say(an_answer(["P1"])))
    async with ScriptedLlm(FOREIGN, *worse) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
    assert (answer.value.remark, answer.record.redacted) == ("It holds.", 1)
    assert len(answer.record.faults) == 3


async def test_usable_answer_survives_an_error_during_retry() -> None:
    async with ScriptedLlm(FOREIGN, refuse(401, "No key.")) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
        assert (answer.value.remark, answer.record.redacted) == ("It holds.", 1)
        llm.script.append(refuse(401, "No key."))
        with pytest.raises(LlmRejected):
            await gateway.run(WEIGHING, a_question("Another."), a_run())


async def test_answer_with_other_faults_is_rejected() -> None:
    faulty = say(an_answer(["P1"]).replace("All [P1] {good}.", "See example.com."))
    async with ScriptedLlm(otherwise=lambda _: faulty) as llm, create_gateway(llm) as gateway:
        with pytest.raises(MalformedAnswer, match=r"There is no weight for P2.*an address"):
            await gateway.run(WEIGHING, a_question(), a_run())


async def test_invisible_characters_are_removed_from_answers() -> None:
    async with ScriptedLlm(say(_answer("A\u200bll \u202egood [\u200bP2]."))) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
    assert answer.value.remark == "All good (another paper)."


async def test_cached_answer_is_checked_for_unknown_citations() -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(say(_answer(SOUND)), say(_answer("New."))) as llm, create_gateway(llm, answers) as gateway:
        await gateway.run(WEIGHING, a_question(), a_run())
        (stored_answer,) = answers.answers.values()
        answers.answers[stored_answer.key] = stored_answer.model_copy(update={"value": _answer("As Lee et al. say.")})
        answer = await gateway.run(WEIGHING, a_question(), a_run())
    assert answer.value.remark == "New."
