"""Which sections of a paper tell what was done and what came out."""

import re
from collections.abc import Iterable

from assayer.models import Section

__all__ = ["methods_and_results"]

_NUMBER = re.compile(r"^\s*(?:(?:section|appendix)\s+)?(?:[0-9]+|[A-Z]|[IVXL]+)(?:\.[0-9]+)*[.):\s]\s*", re.IGNORECASE)
_METHODS = re.compile(
    r"\b(method(s|ology|ological)?|materials?|approach|procedures?|participants|subjects|design|model|architecture|"
    r"algorithm|implementation|framework|setup|set-up|settings?|protocol|data ?sets?|data collection|training|"
    r"preliminaries|formulation|study area|sampling|measures|measurements|stimuli|apparatus|preparation|synthesis|"
    r"assays?|cultures?|statistical analys[ie]s|experimental section)\b",
    re.IGNORECASE,
)
_RESULTS = re.compile(
    r"\b(results?|findings|evaluation|experiments?|performance|ablations?|analys[ie]s|comparisons?|outcomes?|"
    r"discussion|limitations?|benchmarks?|case stud(y|ies)|observations|error analysis)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(
    r"\b(related work|background|introduction|acknowledg\w*|references|funding|author contributions|"
    r"conflicts? of interest|availability|ethics)\b",
    re.IGNORECASE,
)


def methods_and_results(sections: Iterable[Section]) -> list[Section]:
    """Sections on methods or results, in reading order; numbered or not. All of them when none matches."""
    everything = [section for section in sections if section.text.strip()]
    wanted = [section for section in everything if _wanted(section.title)]
    return wanted or everything


def _wanted(title: str) -> bool:
    heading = _NUMBER.sub("", title)
    return not _NEITHER.search(heading) and bool(_METHODS.search(heading) or _RESULTS.search(heading))
