"""Extraction of an idea into parts of six kinds, and the digest of these parts that later prompts show."""

from collections.abc import Iterable

from assayer.citing.labels import plain
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.schemas import ExtractionQuestion
from assayer.methods.innoeval.tasks import EXTRACTION
from assayer.models import Frozen


class IdeaPart(Frozen):
    """Part of the six-tuple, under the name that groundings use."""

    name: str
    """Name of the part: `summary`, `motivation 1`, `research question 2`, `method 3`, `settings`, `results`."""
    text: str


class SixTuple(Frozen):
    """Idea divided into six kinds of parts. A part that the idea does not contain is None or empty; no content is
    invented."""

    tldr: str | None = None
    motivations: tuple[str, ...] = ()
    research_questions: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: str | None = None
    results: str | None = None

    @property
    def parts(self) -> tuple[IdeaPart, ...]:
        """Parts that the idea contains, in standard order."""
        several = {
            "motivation": self.motivations,
            "research question": self.research_questions,
            "method": self.methods,
        }
        named = [("summary", self.tldr)]
        named += [(f"{name} {n}", text) for name, texts in several.items() for n, text in enumerate(texts, start=1)]
        named += [("settings", self.settings), ("results", self.results)]
        return tuple(IdeaPart(name=name, text=text) for name, text in named if text)


async def extract(context: EvaluationContext[InnoEvalOptions]) -> SixTuple:
    """Extract the parts of the idea. Raises an LlmError or BudgetExhausted."""
    answer = await context.ask(EXTRACTION, ExtractionQuestion(idea=context.text))
    return SixTuple(
        tldr=plain(answer.tldr or "") or None,
        motivations=_plain(answer.motivations),
        research_questions=_plain(answer.research_questions),
        methods=_plain(answer.methods),
        settings=plain(answer.settings or "") or None,
        results=plain(answer.results or "") or None,
    )


def _plain(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in map(plain, texts) if text)


def digest(title: str, six_tuple: SixTuple) -> str:
    """Return the title and parts of the idea, with which every prompt after the extraction begins."""
    return "\n\n".join([f"Title: {title}", *(f"{part.name.capitalize()}: {part.text}" for part in six_tuple.parts)])
