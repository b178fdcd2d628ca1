"""Review form of a call: whether a reviewer's answers are complete, and the mean score of each criterion."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from assayer_client.calls import CallTerms, ReviewAnswers, ReviewField
from assayer_client.reviewing import Opinion


class AnswerFault(NamedTuple):
    pointer: str
    """JSON Pointer to the answer within the answers."""
    detail: str


def find_answer_fault(terms: CallTerms, answers: ReviewAnswers) -> AnswerFault | None:
    """Return the first fault of a reviewer's answers to the form of a call; None if they are complete."""
    return next(_list_faults(terms, answers), None)


def _list_faults(terms: CallTerms, answers: ReviewAnswers) -> Iterator[AnswerFault]:
    criteria, form = [criterion.name for criterion in terms.criteria], terms.form
    for name in criteria:
        if name not in answers.criteria:
            yield AnswerFault(
                f"/criteria/{_escape_pointer(name)}", f"Give a score from 1 to 10 for the criterion “{name}”."
            )
    for kind, known_names, given_answers in (
        ("criteria", criteria, answers.criteria),
        ("fields", [field.name for field in form.fields], answers.fields),
    ):
        for name in given_answers:
            if name not in known_names:
                yield AnswerFault(
                    f"/{kind}/{_escape_pointer(name)}",
                    f"The call's review form has no {'criterion' if kind == 'criteria' else 'field'} named “{name}”.",
                )
    for field in form.fields:
        if detail := _find_field_fault(field, answers.fields):
            yield AnswerFault(f"/fields/{_escape_pointer(field.name)}", detail)
    if form.confidence and answers.confidence is None:
        yield AnswerFault("/confidence", "State how certain you are, from 1 to 5.")
    if not form.confidence and answers.confidence is not None:
        yield AnswerFault("/confidence", "The call's review form does not ask how certain you are.")
    if not form.to_applicant and answers.to_applicant:
        yield AnswerFault("/to_applicant", "The call's review form does not ask for comments to the applicant.")


def _find_field_fault(field: ReviewField, answers: Mapping[str, int | str]) -> str:
    """Return a sentence that states what is wrong with the answer to a field; empty if it is valid."""
    answer = answers.get(field.name)
    if answer in (None, "") or (isinstance(answer, str) and not answer.strip()):
        return f"Answer “{field.name}”." if field.required else ""
    if field.kind == "text":
        return "" if isinstance(answer, str) else f"“{field.name}” must be text, not a number."
    if isinstance(answer, int) and answer <= field.highest:
        return ""
    return f"“{field.name}” must be a score from 1 to {field.highest}."


def compute_criterion_means(opinions: Iterable[Opinion]) -> dict[str, float]:
    """Return the mean score of each criterion over the reviews that count."""
    scores = defaultdict[str, list[int]](list)
    for opinion in opinions:
        if not opinion.conflict:
            for name, score in opinion.answers.criteria.items():
                scores[name].append(score)
    return {name: sum(values) / len(values) for name, values in scores.items()}


def _escape_pointer(name: str) -> str:
    """Return a name as a part of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")
