"""Persuasive copies of a plan: written by a model, checked by another request, compared like any other variant."""

import datetime as dt

from assayer.bias_test.persuasive import (
    PERSUASIVE,
    PERSUASIVE_CHECK,
    PersuasiveAnswer,
    PersuasiveQuestion,
    SameContentAnswer,
    SameContentQuestion,
    reword_persuasively,
)
from assayer.bias_test.record import BiasTestPlan, EvaluatedVariant, build_bias_test_report
from assayer.bias_test.variants import PERSUASION, build_persuasive_variant, build_variants
from assayer.ideas.parsing import parse_idea
from assayer.models import Absent
from tests.unit.proposal_texts import PROPOSAL
from tests.unit.reports_fixture import make_full_report
from tests.unit.twins import TwinLlm, make_run


def make_llm(is_same: bool) -> TwinLlm:
    check = SameContentAnswer(added="" if is_same else "a second control group", lost="", same_content=is_same)
    answers = {
        PERSUASIVE.name: lambda _: PersuasiveAnswer(idea="A brilliant plan."),
        PERSUASIVE_CHECK.name: lambda _: check,
    }
    return TwinLlm(answers)


async def test_copy_with_same_content_raises_no_objection() -> None:
    assert await reword_persuasively(PROPOSAL, make_llm(True), make_run()) == ("A brilliant plan.", "")


async def test_copy_with_added_content_raises_an_objection() -> None:
    copy = await reword_persuasively(PROPOSAL, make_llm(False), make_run())
    assert copy.objection == "added: a second control group"


def test_the_prompts_show_the_plan_and_its_length() -> None:
    _, user = PERSUASIVE.messages(PersuasiveQuestion(plan="one two three"))
    assert "to within a tenth: 3 words" in user.content
    _, user = PERSUASIVE_CHECK.messages(SameContentQuestion(plan="before", reworded="after"))
    assert user.content.index("before") < user.content.index("after") < user.content.index("# Task")


def test_persuasion_is_compared_with_reference_but_not_as_sender_change() -> None:
    idea = parse_idea(PROPOSAL, "proposal.md")
    plan = BiasTestPlan("review", True, None, (PERSUASION,), dt.datetime.now(dt.UTC))
    (reference,) = build_variants(idea, 0, plan.attributes)
    reworded = build_persuasive_variant(idea, 0, f"{PROPOSAL}\n\nThis is a unique opportunity.")
    report = make_full_report()
    tested = build_bias_test_report(plan, [EvaluatedVariant(idea, item, report) for item in (reference, reworded)])
    assert {item.attribute for item in tested.differences} == {PERSUASION}
    assert {item.mean for item in tested.differences if item.ideas} == {0.0}
    assert isinstance(tested.sender_changes, Absent)
    assert isinstance(tested.words_changed, Absent)
