"""Ideas taken from requests and from evaluation reports."""

from assayer.errors import InputError
from assayer.ideas.parsing import idea_of_sections, parse_idea
from assayer.models import Idea, Report, Section
from assayer_client.evaluations import IdeaBody
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.problems import HttpProblem, NotFoundProblem
from orchestrator.store import PgJobs

UNNAMED_SOURCE = "the request"
"""The source stated for an idea that the caller does not name."""


def parse_idea_body(body: IdeaBody, source: str, pointer: str) -> Idea:
    """Parse the idea in a request; `pointer` is its location. Parsing takes up to a second, so do not call this on the
    event loop. Raises HttpProblem if the idea is invalid."""
    name = source or UNNAMED_SOURCE
    try:
        if body.sections is None:
            return parse_idea(body.text or "", name, body.title)
        sections = [Section(title=section.title, text=section.text) for section in body.sections]
        return idea_of_sections(sections, name, body.title)
    except InputError as error:
        member = "text" if body.sections is None else "sections"
        raise HttpProblem.invalid(str(error), f"{pointer}/{member}") from None


def get_idea_of_report(report: Report) -> Idea:
    """Return the idea in the form in which it was evaluated: masked in blind mode."""
    card = report.idea
    return Idea(
        id=card.id,
        title=card.title,
        text=card.text,
        sections=(),
        source=card.source,
        flags=card.flags,
        blinding=card.blinding,
        reference_list=card.reference_list,
    )


async def get_evaluated_idea(jobs: PgJobs, tenant: TenantId, evaluation: str, pointer: str) -> Idea:
    """Return a finished evaluation's idea, masked in blind mode. `pointer` is the location of the evaluation's id in
    the request body; it is empty for a page. Raises HttpProblem if the evaluation does not exist or has no report."""
    job = await jobs.get(tenant, JobId(evaluation))
    report = None if job is None or job.kind != "evaluation" else await jobs.get_report(tenant, job.id)
    if report is not None:
        return get_idea_of_report(report)
    if job is None:
        raise NotFoundProblem("evaluation", evaluation, f"The evaluation {evaluation} does not exist.")
    reason = f"It has no report: its state is {job.state}."
    if pointer:
        raise HttpProblem.invalid(reason, pointer)
    raise HttpProblem("not-found", f"{evaluation}: {reason}")
