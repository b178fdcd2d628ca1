"""The idea taken apart, and how prompts show it from then on."""

from collections.abc import Iterable

from assayer.evidence import plain
from assayer.methods.innoeval.dossier import SixTuple
from assayer.methods.innoeval.schemas import ExtractionQuestion
from assayer.methods.innoeval.tasks import EXTRACTION
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["digest", "extract"]


async def extract(llm: Llm, run: Run, text: str) -> SixTuple:
    """Raises an LlmError, BudgetExhausted or RunCancelled."""
    answer = await ask(llm, EXTRACTION, ExtractionQuestion(idea=text), run)
    return SixTuple(
        tldr=plain(answer.tldr or "") or None,
        motivations=_plain(answer.motivations),
        research_questions=_plain(answer.research_questions),
        methods=_plain(answer.methods),
        settings=plain(answer.settings or "") or None,
        results=plain(answer.results or "") or None,
    )


def _plain(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(one for one in map(plain, texts) if one)


def digest(title: str, six: SixTuple) -> str:
    """The idea in its parts, as every prompt after the extraction begins."""
    return "\n\n".join([f"Title: {title}", *(f"{part.name.capitalize()}: {part.text}" for part in six.parts)])
