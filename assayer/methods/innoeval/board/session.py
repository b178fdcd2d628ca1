"""A board session: selection and masking, then all reviews in parallel, then meta-review, advice and decision.

LLM requests come in two rounds: first the reviews, then meta-review and advice together."""

from collections.abc import Mapping, Sequence

from assayer.citing.labels import strip_citations
from assayer.llm import Llm
from assayer.methods.innoeval.board.advice import write_advice
from assayer.methods.innoeval.board.configuration import load_board_configuration
from assayer.methods.innoeval.board.decision import decide
from assayer.methods.innoeval.board.meta_review import MetaReviewResult, interleave_points, write_meta_review
from assayer.methods.innoeval.board.review import BoardReview, ReviewsByDimension, build_failed_review, review_idea
from assayer.methods.innoeval.board.reviewers import (
    BoardSeat,
    assign_models,
    build_control_reviewer,
    build_reviewer,
    draw_board,
    limit_familiarity,
    mask_evidence,
)
from assayer.methods.innoeval.board.scores import (
    build_score_matrix,
    compute_final_score,
    compute_reviewers_mean,
    compute_score_interval,
    measure_agreement,
)
from assayer.methods.innoeval.board.sections import (
    DimensionSections,
    choose_sections,
    count_unread_characters,
    is_read_by_section,
)
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.evidence_pack import BoardResult, EvidencePack
from assayer.methods.innoeval.options import BoardOptions
from assayer.methods.innoeval.tasks import JUDGING
from assayer.models import Absent, BoardRecord, JudgedDimension, Notice, Part, Point, PoolUsed, Reviewer, Summary
from assayer.run.concurrency import Failed, catch_failure, gather_pair, gather_settled
from assayer.run.run import Run

_UNDECIDED = Absent(reason="not decided yet.")


class BoardSession:
    """One run's review board. Its files are read when it is created, before anything is searched or paid for."""

    def __init__(self, llm: Llm, run: Run, options: BoardOptions) -> None:
        """Load the board's files. Raises InputError if a file is invalid or there are fewer personas than seats."""
        self._llm, self._run, self._options = llm, run, options
        self._dimensions, self._pool, self._calibration = load_board_configuration(options)

    async def deliberate(self, pack: EvidencePack) -> BoardResult:
        """Run the board's deliberation. Raises an AssayerError if no reviewer gave a judgement."""
        reviewers = self._build_reviewers(pack)
        sections_by_dimension = self._choose_sections_by_dimension(pack)
        reviews_by_dimension = await self._collect_reviews(pack, reviewers, sections_by_dimension)
        meta, advice = await gather_pair(
            catch_failure(write_meta_review(self._llm, self._run, pack, reviews_by_dimension)),
            catch_failure(self._write_advice(pack, reviews_by_dimension)),
        )
        self._run.keep_successes([meta], "meta-review")
        self._run.keep_successes([advice], "request for advice on revision")
        return BoardResult(
            summary=interleave_points([review for _, reviews in reviews_by_dimension for review in reviews])
            if isinstance(meta, Failed)
            else meta.summary,
            parts=tuple(_build_part(dimension, reviews) for dimension, reviews in reviews_by_dimension),
            board=self._build_board_record(reviewers, sections_by_dimension, reviews_by_dimension, meta, advice),
            notices=self._list_notices(pack, sections_by_dimension),
        )

    def _build_reviewers(self, pack: EvidencePack) -> tuple[Reviewer, ...]:
        options = self._options
        models = assign_models(options.models, max(options.board, 1), options.seed, pack.idea)
        if options.board == 0:
            return (build_control_reviewer(models[0]),)
        board = draw_board(self._pool, options.board, options.seed, pack.idea)
        seats = [BoardSeat(limit_familiarity(item.persona, pack.idea, options.elsewhere), item.kind) for item in board]
        return tuple(
            build_reviewer(
                f"R{number}", seat, mask_evidence(options.seed, pack.idea, seat.persona, pack.before_cutoff), model
            )
            for number, (seat, model) in enumerate(zip(seats, models, strict=True), start=1)
        )

    def _choose_sections_by_dimension(self, pack: EvidencePack) -> Mapping[str, DimensionSections] | None:
        """Return the sections on which each dimension is judged; None for the whole idea."""
        if not is_read_by_section(pack.idea, self._options):
            return None
        sections, max_chars = pack.idea.sections, self._options.section_chars
        sections_by_dimension = {
            item.name: choose_sections(item, self._dimensions, sections, max_chars) for item in self._dimensions
        }
        unread = sum(section.unread for section in sections_by_dimension.values())
        self._run.journal.record_dropped("section for a dimension", "too long for the prompt", unread)
        self._run.unread_characters = 0  # counted by section instead, in the board's own notice
        return sections_by_dimension

    def _list_notices(
        self, pack: EvidencePack, sections_by_dimension: Mapping[str, DimensionSections] | None
    ) -> tuple[Notice, ...]:
        """Return the notices for an idea that is judged by section. They replace the notice about characters that were
        cut."""
        if sections_by_dimension is None:
            return ()
        opening = len(pack.text)
        text = "The idea is long, so each dimension was judged on the sections that are relevant to it."
        if opening < len(pack.idea.text):
            text += f" Its parts and its literature search are based on its first {opening:,} characters."
        if unread_count := count_unread_characters(pack.idea, opening, list(sections_by_dimension.values())):
            text += f" {unread_count:,} characters did not fit into any prompt and were not read."
        return (Notice(kind="long_idea", text=text),)

    async def _collect_reviews(
        self,
        pack: EvidencePack,
        reviewers: Sequence[Reviewer],
        sections_by_dimension: Mapping[str, DimensionSections] | None,
    ) -> ReviewsByDimension:
        review_count = 0

        async def review(reviewer: Reviewer) -> list[BoardReview]:
            nonlocal review_count
            reviews = await review_idea(
                self._llm, self._run, self._options, pack, reviewer, self._dimensions, sections_by_dimension
            )
            review_count += 1
            self._run.report_progress("board", review_count, len(reviewers))
            return reviews

        self._run.report_progress("board", 0, len(reviewers))
        outcomes = await gather_settled(reviewers, review)
        self._run.keep_successes(outcomes, "review")
        failures = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        if len(failures) == len(outcomes):
            raise failures[0].error
        rows = [
            [build_failed_review(reviewer, outcome.error)] * len(self._dimensions)
            if isinstance(outcome, Failed)
            else outcome
            for reviewer, outcome in zip(reviewers, outcomes, strict=True)
        ]
        return list(zip(self._dimensions, map(list, zip(*rows, strict=True)), strict=True))

    async def _write_advice(
        self, pack: EvidencePack, reviews_by_dimension: ReviewsByDimension
    ) -> tuple[Point, ...] | Absent:
        day = self._run.cutoff
        if day is None:
            return Absent(reason="without a cutoff, no work counts as later.")
        if not pack.after_cutoff:
            return Absent(reason="no later work was found.")
        return await write_advice(self._llm, self._run, pack, reviews_by_dimension, self._options.advice_chars, day)

    def _build_board_record(
        self,
        reviewers: tuple[Reviewer, ...],
        sections_by_dimension: Mapping[str, DimensionSections] | None,
        reviews_by_dimension: ReviewsByDimension,
        meta: MetaReviewResult | Failed,
        advice: tuple[Point, ...] | Absent | Failed,
    ) -> BoardRecord:
        columns = [[review.score for review in reviews] for _, reviews in reviews_by_dimension]
        matrix = build_score_matrix(self._dimensions, list(zip(*columns, strict=True)))
        models = tuple(sorted({call.model for call in self._run.journal.calls if call.task == JUDGING.name}))
        record = BoardRecord(
            seed=self._options.seed,
            pool=self._describe_pool(),
            reviewers=reviewers,
            dimensions=tuple(
                _build_judged_dimension(dimension, (sections_by_dimension or {}).get(dimension.name))
                for dimension in self._dimensions
            ),
            prompt_version=JUDGING.version,
            prompt_digest=JUDGING.digest,
            models=models,
            score=compute_final_score(self._dimensions, matrix),
            interval=compute_score_interval(self._dimensions, matrix),
            agreement=measure_agreement(matrix, len(models)),
            decision=_UNDECIDED,
            meta_review=_explain_absence(meta) if isinstance(meta, Failed) else meta.review,
            advice=_explain_absence(advice) if isinstance(advice, Failed) else advice,
        )
        return record.model_copy(update={"decision": decide(self._calibration, record)})

    def _describe_pool(self) -> PoolUsed | None:
        if self._options.board == 0:
            return None
        return PoolUsed(name=self._pool.name, sha256=self._pool.sha256, personas=len(self._pool.personas))


def _build_part(dimension: RubricDimension, reviews: Sequence[BoardReview]) -> Part:
    part_summary: Summary | Absent = interleave_points(reviews)
    if not any(review.points for review in reviews):
        part_summary = Absent(reason="no reviewer made a point about it.")
    return Part(
        name=dimension.name,
        title=strip_citations(dimension.title),
        score=compute_reviewers_mean(dimension, [review.score for review in reviews]),
        summary=part_summary,
        assessments=tuple(review.assessment for review in reviews),
    )


def _build_judged_dimension(dimension: RubricDimension, sections_read: DimensionSections | None) -> JudgedDimension:
    return JudgedDimension(
        name=dimension.name,
        title=dimension.title,
        question=dimension.question,
        sha256=dimension.sha256,
        weight=dimension.weight,
        scale_min=dimension.scale.min,
        scale_max=dimension.scale.max,
        masked=dimension.masked,
        sections=None if sections_read is None else tuple(section.title for section in sections_read.sections),
    )


def _explain_absence(failure: Failed) -> Absent:
    return Absent(reason=f"Not written: {failure.error.reason}.")
