"""From the body of a request to the work that is stored."""

from collections.abc import Collection

from assayer.errors import InputError
from assayer.ideas import idea_of_sections, parse_idea
from assayer.models import Idea, Section
from orchestrator.api.problems import Refusal
from orchestrator.api.resources import EvaluationBody, IdeaBody
from orchestrator.api.validation import suggestion
from orchestrator.jobs.requests import EvaluationRequest

__all__ = ["idea_of", "known_method", "request_of"]

_UNNAMED = "the request"
"""Source of an idea to which the caller gives no name."""


def request_of(body: EvaluationBody, methods: Collection[str]) -> EvaluationRequest:
    """Raises Refusal."""
    known_method(body.method, methods)
    return EvaluationRequest(
        idea=idea_of(body.idea, body.source, "/idea").model_copy(update={"cutoff": body.cutoff}),
        source=body.source,
        method=body.method,
        cutoff=body.cutoff,
        limits=body.limits,
    )


def known_method(method: str, methods: Collection[str]) -> None:
    """Raises Refusal."""
    if method not in methods:
        said = f"There is no method {method!r}.{suggestion(method, sorted(methods))}"
        raise Refusal.invalid(said, "/method")


def idea_of(body: IdeaBody, source: str, pointer: str) -> Idea:
    """`pointer`: where in the request the idea is. Raises Refusal."""
    name = source or _UNNAMED
    try:
        if body.sections is None:
            return parse_idea(body.text or "", name, body.title)
        sections = [Section(title=section.title, text=section.text) for section in body.sections]
        return idea_of_sections(sections, name, body.title)
    except InputError as error:
        where = "text" if body.sections is None else "sections"
        raise Refusal.invalid(str(error), f"{pointer}/{where}") from None
