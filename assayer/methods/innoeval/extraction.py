"""The idea taken apart into six kinds of parts, and the digest of them that prompts show from then on."""

from collections.abc import Iterable

from assayer.citing.labels import plain
from assayer.llm import Llm, ask
from assayer.methods.innoeval.schemas import ExtractionQuestion
from assayer.methods.innoeval.tasks import EXTRACTION
from assayer.models import Frozen
from assayer.run.run import Run

__all__ = ["IdeaPart", "SixTuple", "digest", "extract"]


class IdeaPart(Frozen):
    """One part of the six-tuple, under the name by which groundings refer to it."""

    name: str
    """`summary`, `motivation 1`, `research question 2`, `method 3`, `settings`, `results`."""
    text: str


class SixTuple(Frozen):
    """The idea taken apart. What an idea does not say is None or empty: nothing is made up for it."""

    tldr: str | None = None
    motivations: tuple[str, ...] = ()
    research_questions: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: str | None = None
    results: str | None = None

    @property
    def parts(self) -> tuple[IdeaPart, ...]:
        """In the order of an idea; those that it has."""
        several = {
            "motivation": self.motivations,
            "research question": self.research_questions,
            "method": self.methods,
        }
        named = [("summary", self.tldr)]
        named += [(f"{name} {n}", text) for name, texts in several.items() for n, text in enumerate(texts, start=1)]
        named += [("settings", self.settings), ("results", self.results)]
        return tuple(IdeaPart(name=name, text=text) for name, text in named if text)


async def extract(llm: Llm, run: Run, text: str) -> SixTuple:
    """Raises an LlmError or BudgetExhausted."""
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


def digest(title: str, six_tuple: SixTuple) -> str:
    """The idea in its parts, as every prompt after the extraction begins."""
    return "\n\n".join([f"Title: {title}", *(f"{part.name.capitalize()}: {part.text}" for part in six_tuple.parts)])
