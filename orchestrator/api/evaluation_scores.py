"""Summary of an evaluation's report: scores with their certainty, corpus fit and notices."""

from assayer_client.evaluations import EvaluationScores, ScoredPart
from orchestrator.jobs.report_figures import ReportFigures


def evaluation_scores(figures: ReportFigures) -> EvaluationScores:
    return EvaluationScores(
        score=None if figures.score is None else round(100 * figures.score, 2),
        reason=figures.reason or None,
        certainty=figures.certainty,
        corpus_fit=figures.fit,
        complete=figures.complete,
        parts=tuple(
            ScoredPart(
                name=part.name,
                title=part.title,
                score=part.value,
                scale_max=part.scale_max,
                certainty=part.certainty,
                reason=part.reason or None,
            )
            for part in figures.parts
        ),
        notices=figures.notices,
    )
