"""Data models of assayer, all frozen."""

from assayer.models.assessment import (
    UNDERSPECIFIED,
    Assessment,
    Citation,
    ClaimSupport,
    FurtherQuote,
    Label,
    Part,
    Point,
    Reading,
    Score,
    ScoreCertainty,
    Summary,
    SupportOutcome,
)
from assayer.models.base import Absent, Frozen
from assayer.models.bias_test import (
    SCORE_ROUNDING,
    BiasTestAttribute,
    BiasTestEvaluation,
    BiasTestReport,
    BiasTestScore,
    MeanInterval,
    ScoreChanges,
    ScoreDifference,
    SurvivingWords,
)
from assayer.models.blinding import BlindDefault, Blinding, MaskedKind, MaskedText, UnblindedWords, judged_blind
from assayer.models.board import (
    Agreement,
    BoardRecord,
    Decision,
    Dispute,
    Familiarity,
    JudgedDimension,
    Masking,
    MetaReview,
    PoolUsed,
    Reviewer,
    ScoreInterval,
)
from assayer.models.cited_work import CitedWork
from assayer.models.contents import ContentKind, NamedContent, PaperContents
from assayer.models.coverage import (
    ClaimCounts,
    Coverage,
    Dropped,
    Fault,
    FaultCount,
    FaultKind,
    Operation,
    SourceTrouble,
    SourceUse,
    UnreadableCause,
)
from assayer.models.criteria import CRITERIA, MOST_CRITERIA, Criterion
from assayer.models.document import (
    Document,
    FrontMatterField,
    LeftOut,
    Note,
    ReadingRecord,
    ReadSection,
    ReferencesReader,
)
from assayer.models.evidence_graph import (
    EdgeBasis,
    EdgeKey,
    EdgeKind,
    EvidenceEdge,
    EvidenceNode,
    GraphEdit,
    GraphRecord,
    GraphStep,
    NodeKey,
    NodeKind,
    ReasonFound,
    RecommendedReference,
)
from assayer.models.evidence_report import EvidenceReport, NearPassage, OftenCited
from assayer.models.idea import FlagKind, Idea, IdeaId, TextFlag, suspicious_kinds, with_reference_list
from assayer.models.llm import CachedAnswer, CallRecord, LedgerRow, Message
from assayer.models.own_references import OwnReference, OwnReferenceOutcome, OwnReferences, ReferenceRecord
from assayer.models.panel_review import (
    Axis,
    ClosestWork,
    EvidenceRelation,
    FindingKind,
    FindingSeverity,
    NamedRole,
    NamedWork,
    NumberedFinding,
    PanelEvidence,
    PanelFinding,
    PanelReview,
)
from assayer.models.paper import (
    CorpusFit,
    FieldOrigin,
    Filters,
    FitLevel,
    FullText,
    Hit,
    Identifiers,
    Paper,
    PaperId,
    Passage,
    PreprintVersions,
    Retraction,
    retraction_in_title,
    title_without_retraction,
)
from assayer.models.plan_review import (
    Certainty,
    ChecklistItem,
    ChecklistRow,
    FlawAspect,
    MissingComparator,
    NearPaper,
    PlanFlaw,
    PlanQuote,
    PlanReview,
)
from assayer.models.release import MeasuredMinimum, MinimumName, ReleaseMinima, ReportRelease
from assayer.models.report import EvaluationId, IdeaCard, Notice, PromptVersion, Provenance, Reference, Report, RunUsage
from assayer.models.section import Section
from assayer.models.verdict import (
    ClassProbability,
    GraphUsed,
    MeasuredScorer,
    NeighbourViewpoint,
    RepeatedIdea,
    RepeatedViewpoint,
    ScorerChoice,
    Verdict,
    ViewpointEvidence,
)
from assayer.models.web_and_code import Codebase, Dataset, Definition, Repository, SourceFile, WebPage, WebResult
from assayer.models.window import OPEN, Window
