"""A board in session: draw, masks, one review for each reviewer and dimension side by side, then what they come to.

Two levels of LLM calls: the reviews, then meta-review and advice together.
"""

from collections.abc import Sequence
from itertools import product

from assayer.evidence import plain
from assayer.flow import Failed, attempt, both, each
from assayer.methods.innoeval.advice import advise
from assayer.methods.innoeval.board import control, draw, masking, reviewer
from assayer.methods.innoeval.board_options import BoardOptions
from assayer.methods.innoeval.board_tasks import JUDGING
from assayer.methods.innoeval.decision import decide
from assayer.methods.innoeval.dimensions import Dimension
from assayer.methods.innoeval.dossier import Deliberation, Dossier
from assayer.methods.innoeval.reviewing import Judged, Review, lost, review
from assayer.methods.innoeval.rules import rules_of
from assayer.methods.innoeval.sectioning import Reading, by_section, read_for, unseen
from assayer.methods.innoeval.synthesis import Meta, leading, synthesise
from assayer.methods.innoeval.tally import agreement, final_score, interval, matrix_of, mean_score
from assayer.models import (
    Absent,
    BoardRecord,
    JudgedDimension,
    Notice,
    Part,
    Point,
    PoolUsed,
    Reviewer,
    Summary,
)
from assayer.ports import Llm
from assayer.run import Run

__all__ = ["Convened"]

_UNDECIDED = Absent(reason="not decided yet.")


class Convened:
    """The board of one run. Files are read when it is convened, before anything is searched or paid for."""

    def __init__(self, llm: Llm, run: Run, options: BoardOptions) -> None:
        """Raises InputError for files that cannot be used and for a pool smaller than the board."""
        self._llm, self._run, self._options = llm, run, options
        self._dimensions, self._pool, self._calibration = rules_of(options)

    async def deliberate(self, dossier: Dossier) -> Deliberation:
        """Raises an AssayerError when no reviewer could judge."""
        reviewers = self._reviewers(dossier)
        readings = self._readings(dossier)
        judged = await self._judged(dossier, reviewers, readings)
        meta, advice = await both(
            attempt(synthesise(self._llm, self._run, dossier, judged)), attempt(self._advice(dossier, judged))
        )
        self._run.keep([meta], "meta-review")
        self._run.keep([advice], "advice on revision")
        return Deliberation(
            summary=leading([one for _, reviews in judged for one in reviews])
            if isinstance(meta, Failed)
            else meta.summary,
            parts=tuple(_part(dimension, reviews) for dimension, reviews in judged),
            board=self._record(reviewers, readings, judged, meta, advice),
            notices=self._notices(dossier, readings),
        )

    def _reviewers(self, dossier: Dossier) -> tuple[Reviewer, ...]:
        options = self._options
        if options.board == 0:
            return (control(),)
        seats = draw(self._pool, options.board, options.seed, dossier.idea, options.draw)
        return tuple(
            reviewer(f"R{number}", seat, masking(options.seed, dossier.idea, seat.persona, dossier.before))
            for number, seat in enumerate(seats, start=1)
        )

    def _readings(self, dossier: Dossier) -> dict[str, Reading | None]:
        """What each dimension is judged on; None for the whole idea."""
        if not by_section(dossier.idea, self._options):
            return {dimension.name: None for dimension in self._dimensions}
        sections, room = dossier.idea.sections, self._options.section_chars
        readings = {one.name: read_for(one, self._dimensions, sections, room) for one in self._dimensions}
        unread = sum(one.unread for one in readings.values())
        self._run.journal.drop("section for a dimension", "longer than the prompt has room for", unread)
        self._run.unread_characters = 0  # counted by section instead, and told by the board's own notice
        return dict(readings)

    def _notices(self, dossier: Dossier, readings: dict[str, Reading | None]) -> tuple[Notice, ...]:
        """Of an idea judged by section, in place of the one that counts what its opening leaves out."""
        read = [one for one in readings.values() if one is not None]
        if not read:
            return ()
        opening = len(dossier.text)
        text = "Each dimension was judged on the sections of this long idea that speak to it."
        if opening < len(dossier.idea.text):
            text += f" It was taken apart, and its literature searched for, by its first {opening:,} characters."
        if missed := unseen(dossier.idea, opening, read):
            text += f" {missed:,} characters found no room in any prompt and were not read."
        return (Notice(kind="long_idea", text=text),)

    async def _judged(
        self, dossier: Dossier, reviewers: Sequence[Reviewer], readings: dict[str, Reading | None]
    ) -> Judged:
        seats = list(product(self._dimensions, reviewers))
        done = 0

        async def one(seat: tuple[Dimension, Reviewer]) -> Review:
            nonlocal done
            dimension, who = seat
            result = await review(
                self._llm, self._run, self._options, dossier, who, dimension, readings[dimension.name]
            )
            done += 1
            self._run.tell("board", done, len(seats))
            return result

        outcomes = await each(seats, one)
        self._run.keep(outcomes, "review")
        failures = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        if len(failures) == len(outcomes):
            raise failures[0].error
        reviews = [
            lost(who, outcome.error) if isinstance(outcome, Failed) else outcome
            for (_, who), outcome in zip(seats, outcomes, strict=True)
        ]
        width = len(reviewers)
        return [(dimension, reviews[row * width : (row + 1) * width]) for row, dimension in enumerate(self._dimensions)]

    async def _advice(self, dossier: Dossier, judged: Judged) -> tuple[Point, ...] | Absent:
        day = self._run.cutoff
        if day is None:
            return Absent(reason="without a cutoff there is no later work.")
        if not dossier.after:
            return Absent(reason="no later work was found.")
        return await advise(self._llm, self._run, dossier, judged, self._options.advice_chars, day)

    def _record(
        self,
        reviewers: tuple[Reviewer, ...],
        readings: dict[str, Reading | None],
        judged: Judged,
        meta: Meta | Failed,
        advice: tuple[Point, ...] | Absent | Failed,
    ) -> BoardRecord:
        columns = [[one.score for one in reviews] for _, reviews in judged]
        matrix = matrix_of(self._dimensions, list(zip(*columns, strict=True)))
        record = BoardRecord(
            seed=self._options.seed,
            pool=self._pool_used(),
            reviewers=reviewers,
            dimensions=tuple(_judged_dimension(one, readings[one.name]) for one in self._dimensions),
            prompt_version=JUDGING.version,
            models=tuple(sorted({one.model for one in self._run.journal.calls if one.task == JUDGING.name})),
            score=final_score(self._dimensions, matrix),
            interval=interval(self._dimensions, matrix),
            agreement=agreement(matrix),
            decision=_UNDECIDED,
            meta_review=_absent(meta) if isinstance(meta, Failed) else meta.review,
            advice=_absent(advice) if isinstance(advice, Failed) else advice,
        )
        return record.model_copy(update={"decision": decide(self._calibration, record)})

    def _pool_used(self) -> PoolUsed | None:
        if self._options.board == 0:
            return None
        return PoolUsed(name=self._pool.name, sha256=self._pool.sha256, personas=len(self._pool.personas))


def _part(dimension: Dimension, reviews: Sequence[Review]) -> Part:
    said: Summary | Absent = leading(reviews)
    if not any(one.points for one in reviews):
        said = Absent(reason="no reviewer made a point about it.")
    return Part(
        name=dimension.name,
        title=plain(dimension.title),
        score=mean_score(dimension, [one.score for one in reviews]),
        summary=said,
        assessments=tuple(one.assessment for one in reviews),
    )


def _judged_dimension(dimension: Dimension, reading: Reading | None) -> JudgedDimension:
    return JudgedDimension(
        name=dimension.name,
        title=dimension.title,
        question=dimension.question,
        sha256=dimension.sha256,
        weight=dimension.weight,
        scale_min=dimension.scale.min,
        scale_max=dimension.scale.max,
        sections=None if reading is None else tuple(one.title for one in reading.sections),
    )


def _absent(failed: Failed) -> Absent:
    return Absent(reason=f"Not written: {failed.error.reason}.")
