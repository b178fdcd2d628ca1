"""The table of methods, and the evidence report that some give without a language model."""

import pytest

from assayer.backends import Backends
from assayer.errors import InputError
from assayer.llm import Llm, NoLlm
from assayer.methods.grapheval.judge import GraphJudge
from assayer.models import Absent
from cluster.methods import METHODS, MethodInputs
from cluster.settings import Settings
from tests.memory_corpus import MemoryCorpus
from tests.unit.grapheval_judging import (
    EMBEDDER,
    build_idea_graph,
    judge_over,
    make_forty_labelled_ideas,
    make_maps_idea,
)
from tests.unit.twins import NoFullTexts, make_run

NO_GRAPH = Absent(reason="there is no graph of labelled ideas.")


def make_method_inputs(judge: GraphJudge | Absent, llm: Llm | None = None) -> MethodInputs:
    literature = MemoryCorpus((), EMBEDDER)
    return MethodInputs(Settings(), Backends(llm or NoLlm(), literature, NoFullTexts(), EMBEDDER), judge)


@pytest.mark.parametrize("method", ["review", "scholareval", "check"])
async def test_report_without_a_model_has_evidence_but_no_verdict(method: str) -> None:
    judge = judge_over(await build_idea_graph(make_forty_labelled_ideas()))
    report = (await METHODS[method].evaluate(make_maps_idea(), make_run(), make_method_inputs(judge))).report
    assert report.method == method
    assert report.evidence is not None
    assert (report.verdict, report.panel_review, report.parts) == (None, None, ())
    assert (report.evidence.not_stated is None) == (method != "check")


async def test_grapheval_without_a_graph_explains_how_to_build_one() -> None:
    with pytest.raises(InputError, match="assayer graph build"):
        await METHODS["grapheval"].evaluate(make_maps_idea(), make_run(), make_method_inputs(NO_GRAPH))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_names_its_tasks_and_options(name: str) -> None:
    method = METHODS[name]
    assert all(task.name.startswith((f"{name}.", "plan.", "support.")) for task in method.tasks)
    assert method.options(Settings()).model_dump()
