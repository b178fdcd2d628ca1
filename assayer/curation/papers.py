"""Derive a research question from a paper: classify the paper, ask for a question, and check that it does not reveal
the paper's method."""

from assayer.curation.leakage import measure_leakage
from assayer.curation.options import CurationOptions
from assayer.curation.schemas import PaperQuestion, QuestionQuestion, RefusedQuestion
from assayer.curation.tasks import CLASSIFICATION, QUESTION
from assayer.llm import Llm, ask
from assayer.models import Absent
from assayer.models.curation import SourcePaper
from assayer.run.concurrency import Failed, catch_failure
from assayer.run.run import Run
from assayer_client.curation import CuratedPaper, LeakageMeasure, PaperKind

_NAMES = {"new_idea": "a paper with a new idea", "survey": "a survey", "evaluation": "an evaluation of existing work"}
_WORDS_SHOWN = 8


async def curate_paper(paper: SourcePaper, llm: Llm, run: Run, options: CurationOptions) -> CuratedPaper:
    """Curate one paper. Steps that failed are absent, with the reason. Raises LlmRejected, LlmUnavailable or
    ComponentUnavailable if the endpoint or a service component fails."""
    kind, reason = await _classify_paper(paper, llm, run)
    question: str | Absent = Absent(reason="The kind of paper is unknown.")
    leakage, attempts = None, 0
    if kind in options.question_kinds:
        question, leakage, attempts = await _ask_for_question(paper, llm, run, options)
    elif not isinstance(kind, Absent):
        wanted_kinds = " or ".join(_NAMES[question_kind] for question_kind in options.question_kinds)
        question = Absent(reason=f"Questions are derived from {wanted_kinds}; this is {_NAMES[kind]}.")
    return CuratedPaper(
        id=paper.id,
        title=paper.title,
        kind=kind,
        kind_reason=reason,
        question=question,
        leakage=leakage,
        attempts=attempts,
        flags=paper.flags,
    )


async def _classify_paper(paper: SourcePaper, llm: Llm, run: Run) -> tuple[PaperKind | Absent, str]:
    paper_question = PaperQuestion(title=paper.title, abstract=paper.abstract)
    answer = await catch_failure(ask(llm, CLASSIFICATION, paper_question, run))
    if isinstance(answer, Failed):
        run.journal.record_failure("paper", answer.error)
        absent = Absent(reason=f"It could not be classified: {answer.error}")
        return absent, absent.reason
    if answer.kind == "unclear":
        return Absent(reason=f"The model could not tell: {answer.reason}"), answer.reason
    return answer.kind, answer.reason


async def _ask_for_question(
    paper: SourcePaper, llm: Llm, run: Run, options: CurationOptions
) -> tuple[str | Absent, LeakageMeasure | None, int]:
    """Ask for a question. While it reveals the method, ask again, showing the rejected questions with the revealing
    words."""
    refused_questions: tuple[RefusedQuestion, ...] = ()
    leakage: LeakageMeasure | None = None
    for number in range(1, options.question_attempts + 1):
        task_question = QuestionQuestion(title=paper.title, abstract=paper.abstract, refused=refused_questions)
        answer = await catch_failure(ask(llm, QUESTION, task_question, run))
        if isinstance(answer, Failed):
            run.journal.record_failure("question", answer.error)
            return Absent(reason=f"No question could be derived: {answer.error}"), leakage, number
        leakage = measure_leakage(answer.question, paper.title, paper.abstract, options.leakage)
        if not leakage.leaks:
            return answer.question, leakage, number
        revealing_words = (*leakage.names, *leakage.repeated)
        refused_questions = (*refused_questions, RefusedQuestion(text=answer.question, repeated=revealing_words))
    run.journal.record_dropped("question", "revealed its paper's method in every attempt")
    quoted_words = ", ".join(f"“{item}”" for item in refused_questions[-1].repeated[:_WORDS_SHOWN])
    times = "once" if len(refused_questions) == 1 else f"{len(refused_questions)} times"
    return (
        Absent(reason=f"It revealed the method {times}; the last attempt repeats {quoted_words}."),
        leakage,
        len(refused_questions),
    )
