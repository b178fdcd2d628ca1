"""A call's letters, as they were sent or would be sent now, and their download."""

import datetime as dt
import io
import re
import zipfile
from collections.abc import Mapping, Sequence

from assayer.models import Frozen
from assayer.models.sender_references import get_own_reference
from assayer_client.calls import CallTerms
from assayer_client.letters import Letter, LetterTemplates
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.letters import PLACEHOLDERS, fill_template, find_unknown_placeholders
from orchestrator.store.call_details import PgCallDetails
from orchestrator.store.letters import LetterMaterial, PgLetters

_DECISION_WORDS = {"fund": "funded", "reserve": "on the reserve list", "decline": "not funded"}
_UNNAMED_APPLICANT = "applicant"


class LettersSheet(Frozen):
    """Letters in the form that the PDF template expects."""

    title: str
    letters: tuple[str, ...]


def check_templates(templates: LetterTemplates) -> None:
    """Raise HttpProblem if a template contains an unknown placeholder."""
    for outcome, template in templates.model_dump().items():
        if unknown_placeholders := find_unknown_placeholders(template):
            available_names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            unknown_names = ", ".join(f"{{{name}}}" for name in unknown_placeholders)
            raise HttpProblem.invalid(
                f"Unknown placeholders: {unknown_names}. Available placeholders: {available_names}.",
                f"/templates/{outcome}",
            )


async def build_letters(
    store: PgLetters,
    call_details: PgCallDetails,
    tenant: TenantId,
    call: BatchStatus,
    today: dt.date,
    evaluations: Sequence[str] | None = None,
) -> list[Letter]:
    """Return a call's letters, optionally only those about these evaluations."""
    terms = (await call_details.get(tenant, call.id)).terms
    templates = (await store.get_templates(tenant, call.id)).templates
    material = await store.list_material(tenant, call.id, evaluations)
    return [_build_letter(letter_material, templates, terms, call, today) for letter_material in material]


def _build_letter(
    material: LetterMaterial, templates: LetterTemplates, terms: CallTerms, call: BatchStatus, today: dt.date
) -> Letter:
    reference = get_own_reference(material.source, material.row)
    values = {
        "applicant": material.applicant or _UNNAMED_APPLICANT,
        "institution": material.institution,
        "title": material.title,
        "reference": reference,
        "call": call.name or call.id,
        "decision": _DECISION_WORDS[material.outcome],
        "amount": "" if material.amount is None else f"{material.amount:,.2f}".removesuffix(".00"),
        "currency": terms.currency,
        "reason": material.reason,
        "comments": "\n\n".join(material.released),
        "date": today.isoformat(),
    }
    return Letter(
        evaluation=material.id,
        reference=reference,
        title=material.title,
        applicant=material.applicant,
        outcome=material.outcome,
        text=_get_text(material, templates, values),
        comments=material.comments,
        released_comments=len(material.released),
        sent_at=material.sent_at,
        sent_by=material.sent_by,
    )


def _get_text(material: LetterMaterial, templates: LetterTemplates, values: Mapping[str, str]) -> str:
    """Return the letter's text as it was sent or, if it was not sent yet, as it would be sent now."""
    template = f"{getattr(templates, material.outcome)}\n\n{templates.closing}"
    return fill_template(template, values) if material.sent is None else material.sent


def zip_letters(letters: Sequence[Letter]) -> bytes:
    """Return a ZIP archive with one text file per letter."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for letter in letters:
            name = re.sub(r"[^\w.-]+", "_", letter.reference or letter.title)[:80].strip("._")
            file.writestr(f"{letter.outcome}/{name or 'letter'}-{letter.evaluation}.txt", letter.text)
    return archive.getvalue()
