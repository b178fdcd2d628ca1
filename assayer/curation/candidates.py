"""Generate candidate ideas for a research question, each sampled independently."""

from typing import NamedTuple

from assayer.curation.options import CurationOptions
from assayer.curation.schemas import ProposalAnswer, ProposalQuestion
from assayer.curation.tasks import build_proposal_task
from assayer.errors import AssayerError, InputError
from assayer.ideas.parsing import parse_idea
from assayer.llm import Llm, ask
from assayer.models import Idea, TextFlag
from assayer.models.curation import ResearchQuestion
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.run import Run
from assayer.text.sanitise import sanitise
from assayer_client.curation import Candidate


class ProposedCandidates(NamedTuple):
    candidates: tuple[Candidate, ...]
    """The candidates by number, without failed or repeated ones."""
    lost: dict[int, AssayerError]
    """Errors for candidates without a usable answer, by candidate number."""
    repeats: dict[int, int]
    """Discarded candidates that repeat an earlier one word for word: number of the repeat to number of the original."""


async def propose_candidates(
    question: ResearchQuestion, llm: Llm, run: Run, options: CurationOptions
) -> ProposedCandidates:
    """Generate candidate ideas for a question. Raises LlmRejected, LlmUnavailable or ComponentUnavailable if the
    endpoint or a service component fails."""
    proposal_question = ProposalQuestion(question=question.text)

    async def propose(number: int) -> ProposalAnswer:
        task = build_proposal_task(number, options.candidate_tier, options.temperature)
        return await ask(llm, task, proposal_question, run)

    answers = await gather_settled(range(1, options.candidates + 1), propose)
    candidates, errors_by_number = list[Candidate](), dict[int, AssayerError]()
    first, repeats = dict[str, int](), dict[int, int]()
    for number, answer in enumerate(answers, start=1):
        if isinstance(answer, Failed):
            run.journal.record_failure("candidate", answer.error)
            errors_by_number[number] = answer.error
            continue
        normalised_idea = " ".join(answer.idea.casefold().split())
        if normalised_idea in first:
            run.journal.record_dropped("candidate", "same text as an earlier candidate")
            repeats[number] = first[normalised_idea]
            continue
        candidate = _build_candidate(question, number, answer)
        try:
            convert_to_idea(candidate)
        except InputError as error:
            errors_by_number[number] = error
            continue
        first[normalised_idea] = number
        candidates.append(candidate)
    return ProposedCandidates(tuple(candidates), errors_by_number, repeats)


def _build_candidate(question: ResearchQuestion, number: int, answer: ProposalAnswer) -> Candidate:
    flags = list[TextFlag]()

    def clean(text: str) -> str:
        clean_text, removal_flags = sanitise(text)
        flags.extend(removal_flags)
        return clean_text.strip()

    return Candidate(
        id=f"{question.id}-{number}",
        question=question.text,
        number=number,
        title=clean(answer.title),
        problem=clean(answer.problem),
        gap=clean(answer.gap),
        bridge=clean(answer.bridge),
        text=clean(answer.idea),
        flags=tuple(flags),
    )


def convert_to_idea(candidate: Candidate) -> Idea:
    """Convert a candidate to an idea that can be judged: the question, then the idea, without the model's remarks on
    it. Raises InputError if no text is left."""
    return parse_idea(f"Research question: {candidate.question}\n\n{candidate.text}", candidate.id, candidate.title)
