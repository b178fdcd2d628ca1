"""Find identifiers that can be recognised by their form: email addresses, ORCID iDs and telephone numbers."""

import re
from collections.abc import Iterator

from assayer.blinding.spans import MaskSpan

_DOT = r"(?:\.|\s?[\[({]\s?(?:dot|\.)\s?[\])}]\s?| dot )"
_AT_SIGN = re.compile(
    r"@|\s?[\[({<]\s?at\s?[\])}>]\s?|(?<=\w) @ (?=\w)"
    r"|(?<=\w) at (?=[\w-]{1,40}(?: dot |\s?[\[({]dot))"  # `jane dot roe at x dot edu`
    r"|(?<=\w) at (?=(?:[\w-]{1,40}\.){1,3}(?:edu|ac\.\w\w)\b)",
    re.I,
)
_BACKWARDS_DOT = r"(?:\.|\s?[\])}]\s?(?:tod|\.)\s?[\[({]\s?| tod )"
_BACKWARDS_MAILBOX = re.compile(
    rf"\}}[\w.,; +-]{{1,120}}\{{|[\w.+-]{{1,130}}(?:{_BACKWARDS_DOT}[\w+-]{{1,40}}){{0,3}}", re.I
)
"""Pattern for a mailbox name in reversed text. Matching forwards would scan all preceding characters for every `@`."""
_MAX_MAILBOX_CHARS = 130
_DOMAIN = re.compile(rf"[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{1,6}}", re.I)
_ORCID = re.compile(
    r"(?:(?:ORCID(?:\siD)?\s?:?\s{0,2})?(?:https?://)?(?:www\.)?orcid\.org/|ORCID(?:\siD)?\s?:?\s{0,2})?"
    r"(?<!\d)\d{4}-\d{4}-\d{4}-\d{3}[\dX](?![\d-])|ORCID(?:\siD)?\s?:?\s{0,2}\d{4} \d{4} \d{4} \d{3}[\dX]\b",
    re.I,
)
_PHONE = re.compile(
    r"(?:(?:tel|phone|fax|mobile)\.?:?\s?)?(?<![\w+])\+\d{1,3}[ (./-]{1,2}\d[\d ()./-]{6,18}\d(?!\w)"
    r"|\b0\d(?:[ .]\d\d){4}\b|\b0\d{1,2}-\d{3,4}-\d{4}\b|(?<!\d)1[3-9]\d{9}(?!\d)"
    r"|\b(?:tel|phone|fax|mobile|telefon|handy|tél|teléfono|telemóvel|тел)\.?:?\s?\(?\d[\d ()./-]{4,18}\d(?!\w)",
    re.I,
)
CONTACT = re.compile(rf"[\w.+}}-]@[\w-]{{1,63}}\.[^\W\d_]|{_ORCID.pattern}", re.I)
"""Cheap test for whether text contains an email address or ORCID iD. It does not find where the address begins."""


def contacts(text: str) -> Iterator[MaskSpan]:
    for sign in _AT_SIGN.finditer(text):
        domain = _DOMAIN.match(text, sign.end())
        before = text[max(0, sign.start() - _MAX_MAILBOX_CHARS) : sign.start()]
        mailbox = domain and _BACKWARDS_MAILBOX.match(before[::-1])
        if mailbox and domain and _is_address(mailbox[0][::-1], sign[0], domain[0]):
            yield MaskSpan(sign.start() - len(mailbox[0]), domain.end(), "email")
    for match in _ORCID.finditer(text):
        yield MaskSpan(*match.span(), "orcid")
    for match in _PHONE.finditer(text):
        yield MaskSpan(*match.span(), "contact")


def _is_address(mailbox: str, sign: str, domain: str) -> bool:
    """Return whether the match is an email address, rather than a metric (`Acc@0.5`) or a mention of a website
    (`available at x.edu`)."""
    spelled_out = sign.strip().lower() == "at" and " dot " not in domain.lower()
    return domain[-1].isalpha() and not (spelled_out and "." not in mailbox)
