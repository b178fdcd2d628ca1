"""A check of problem documents (RFC 9457)."""

import httpx2

from orchestrator.problems import ProblemDocument, ProblemError


def check_problem(answer: httpx2.Response, status: int, slug: str) -> ProblemDocument:
    """Check that an answer is a complete problem document of this status and type, and return the document."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = ProblemDocument.model_validate_json(answer.content)
    assert document.type == f"https://assayer.dev/problems/{slug}"
    assert document.status == status
    assert document.instance == answer.request.url.path
    assert document.request_id == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return document


def get_first_error(answer: httpx2.Response) -> ProblemError:
    """Check that an answer refuses an invalid request, and return the first error that it names."""
    errors = check_problem(answer, 422, "invalid-request").errors
    assert errors
    return errors[0]
