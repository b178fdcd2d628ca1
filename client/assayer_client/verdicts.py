"""What GraphEval and the board of InnoEval add to a report."""

import datetime as dt
from typing import Literal

from assayer_client.points import Point, Score
from assayer_client.resources import Absent, Resource


class ClassProbability(Resource):
    """Of one outcome, calibrated."""

    name: str
    probability: float
    low: float
    high: float
    """90 % interval of the calibration, not of the outcome."""
    rate: float
    """The share of this outcome where the probability was calibrated: what one would say knowing nothing."""


class GraphUsed(Resource):
    name: str
    version: str
    ideas: int
    labelled: int
    viewpoints: int
    embedding_model: str
    maker: str
    """Who took its ideas apart."""
    outcomes: tuple[str, ...]
    ordered: bool
    """Whether the outcomes stand from worst to best."""


class NeighbourViewpoint(Resource):
    """A viewpoint of another idea, and what became of that idea."""

    text: str
    idea: str
    title: str
    url: str
    """From the graph's own record; empty when it has none."""
    date: dt.date | None
    label: str | None
    similarity: float
    """Cosine, above 0 to 1."""


class ViewpointEvidence(Resource):
    """A viewpoint of the idea, and where it stands among viewpoints with known outcomes."""

    text: str
    words: str
    """The words of the idea that it rests on."""
    self_contained: bool
    leaning: str | None
    """The outcome that its score has more of with this viewpoint than without; None when it makes no difference."""
    influence: float
    """By how much, in shares of the score before calibration, 0 to 1."""
    neighbours: tuple[NeighbourViewpoint, ...]
    """The most similar first."""


class RepeatedViewpoint(Resource):
    """A viewpoint of the idea beside the one that it repeats."""

    text: str
    other_text: str
    similarity: float
    """Cosine, above 0 to 1."""


class RepeatedIdea(Resource):
    """An idea of the graph that this one repeats: a reason to look at both, not a proof."""

    kind: Literal["same", "copy", "recombination", "paraphrase"]
    """Its own words or title; most statements taken from it; taken from several, most of them from it; the same
    statements reworded."""
    idea: str
    title: str
    url: str
    share: float
    """Of the idea's viewpoints that are repeated, 0 to 1."""
    pairs: tuple[RepeatedViewpoint, ...]
    """In the order of the idea; empty for the same words."""


class MeasuredScorer(Resource):
    """How well a scorer told outcomes apart, on ideas whose outcomes it had not seen."""

    name: str
    auroc: float
    low: float
    high: float
    """95 % interval, by bootstrap over ideas."""


class ScorerChoice(Resource):
    """Which scorer speaks, out of several, and what that is worth on ideas that it was not chosen or learned from."""

    chosen: str
    held_out: MeasuredScorer
    """Of the choice as a whole."""
    compared: tuple[MeasuredScorer, ...]
    """Each scorer by itself, what is too simple to be chosen last."""
    unbeaten: tuple[str, ...]
    """Of length and TF-IDF, those that the choice does not beat by more than chance."""
    ideas: int
    """Held out."""
    split: str


class Verdict(Resource):
    """Evidence first; a class is named only where the calibration knows more than the label rates."""

    decision: str | Absent
    """The outcome that is named, or why none is."""
    probabilities: tuple[ClassProbability, ...]
    """In the graph's order; empty where nothing could be calculated."""
    scorer: str
    calibration: str | Absent
    """Its name, data and size."""
    choice: ScorerChoice | Absent = Absent(reason="the report was made before scorers were chosen among several.")
    graph: GraphUsed
    maker: str
    """Who took this idea apart."""
    viewpoints: int
    """Of this idea, all of them used."""
    evidence: tuple[ViewpointEvidence, ...]
    """Those that moved the score most, the strongest first."""
    repeats: RepeatedIdea | Absent | None = Absent(reason="the report was made before repeated ideas were looked for.")
    """The idea of the graph that it repeats; None where there is none; absent where that was not looked for."""


class PoolUsed(Resource):
    name: str
    sha256: str
    personas: int


class Familiarity(Resource):
    """Of a reviewer, by what it lets them see."""

    literature: int
    """With papers: decides how many of the papers found stay visible."""
    methods: int
    """With theory and methodology: in the prompt's words only."""
    applications: int
    """With building and running things: decides about repositories."""
    frontier: int
    """With what is discussed and released now: decides about web pages."""


class Masking(Resource):
    """What one reviewer did not see of one kind of knowledge."""

    kind: Literal["literature", "web", "code", "data"]
    level: int
    shown: int
    hidden: tuple[str, ...]


class Reviewer(Resource):
    key: str
    """`R1`; the assessments of every judged part stand in the order of the reviewers."""
    persona: str | None
    """Its name in the pool; None for the control, which is nobody in particular and sees everything."""
    seat: Literal["near", "open", "control"]
    """`near` was drawn among those whose topics the idea names, `open` among all others."""
    field: str = ""
    role: str = ""
    background: str = ""
    goal: str = ""
    constraints: str = ""
    familiarity: Familiarity | None = None
    model: str | None = None
    """That was asked to answer from this seat; None for the one that answers everything else."""
    masking: tuple[Masking, ...] = ()


class JudgedDimension(Resource):
    """A dimension as it was judged; its reviews are the part of the report with the same name."""

    name: str
    title: str
    question: str
    sha256: str
    """Of its definition: rubric, guidance, evidence, scale and all."""
    weight: float
    scale_min: float
    scale_max: float
    masked: bool = True
    """Whether what reviewers are not familiar with was hidden from them; if not, each saw all that was found."""
    sections: tuple[str, ...] | None
    """Headings of the sections that it was judged on; None when it was judged on the whole idea."""


class ScoreInterval(Resource):
    """Where the final score would lie with other reviewers of the same pool; says nothing about whether they are
    right."""

    low: float
    high: float
    level: float = 0.9
    basis: str


class Agreement(Resource):
    """Krippendorff's α over reviewers and dimensions: 1 full agreement, 0 what chance gives, below 0 systematic
    disagreement."""

    alpha: float
    reviewers: int
    dimensions: int
    basis: str


class Decision(Resource):
    """What papers with such scores became, by thresholds that were fitted on some whose decision is known."""

    name: str
    stability: float
    """Share of refits on resampled papers that come to the same decision, 0 to 1."""
    calibration: str
    """Its name."""
    made_on: dt.date
    provenance: str
    outcomes: tuple[str, ...]
    """From worst to best."""
    thresholds: tuple[float, ...]
    """Final scores from which the next better outcome is named."""


class Dispute(Resource):
    """Where reviewers part, and which side what was found supports."""

    dimension: str
    """Title."""
    positions: str
    weighing: str


class MetaReview(Resource):
    text: str
    disputes: tuple[Dispute, ...]


class BoardRecord(Resource):
    """Everything about the board that the reviews themselves do not say. Enough to draw the same one again."""

    seed: int
    pool: PoolUsed | None
    """None for the control without personas."""
    reviewers: tuple[Reviewer, ...]
    dimensions: tuple[JudgedDimension, ...]
    prompt_version: int
    """Of the prompt that asked for the reviews."""
    prompt_digest: str = ""
    """Of that prompt with everything it includes; empty in reports of before."""
    models: tuple[str, ...]
    """That answered as reviewers."""
    score: Score | Absent
    """0 to 10: the weighted mean over dimensions, each the mean of its reviewers, all brought to this scale."""
    interval: ScoreInterval | Absent
    agreement: Agreement | Absent
    decision: Decision | Absent
    meta_review: MetaReview | Absent
    advice: tuple[Point, ...] | Absent
    """On revision, from work published after the cutoff. No reviewer saw that work."""
