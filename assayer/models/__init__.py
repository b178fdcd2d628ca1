"""Immutable data models: those that only assayer uses, and those that it shares with the client of its service."""

from assayer.models.assessment import UNDERSPECIFIED
from assayer.models.base import Frozen
from assayer.models.bias_test import (
    SCORE_ROUNDING,
    BiasTestAttribute,
    BiasTestEvaluation,
    BiasTestReport,
    BiasTestScore,
    InsertedWords,
    MeanInterval,
    ScoreChanges,
    ScoreDifference,
)
from assayer.models.blinding import BlindDefault, UnblindedWords, is_judged_blind
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
from assayer.models.coverage import ClaimCounts, Coverage, SourceFailure, UnreadableCause
from assayer.models.criteria import CRITERIA, MAX_CRITERIA, Criterion
from assayer.models.document import (
    CitedWork,
    Document,
    FrontMatterField,
    Note,
    ReadingRecord,
    ReadSection,
    ReferencesReader,
    Section,
    UnreadPart,
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
    RecommendedReference,
    SearchPath,
)
from assayer.models.evidence_report import EvidenceReport, NearPassage, OftenCited
from assayer.models.idea import Idea, append_reference_list, suspicious_kinds
from assayer.models.llm import CachedAnswer, CallOutcome, CallRecord, LedgerRow
from assayer.models.own_references import OwnReference, OwnReferenceOutcome, OwnReferences, ReferenceRecord
from assayer.models.panel_review import (
    PAGE_WORDS,
    Axis,
    ClosestWork,
    EvidenceRelation,
    FindingKind,
    FindingSeverity,
    NamedRole,
    NamedWork,
    NumberedFinding,
    OmittedPoint,
    PanelEvidence,
    PanelFinding,
    PanelParagraph,
    PanelReview,
)
from assayer.models.paper import (
    ContentKind,
    Filters,
    FullText,
    Hit,
    Identifiers,
    NamedContent,
    Paper,
    PaperContents,
    Passage,
    PreprintVersions,
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
from assayer.models.report import EvaluationId, IdeaCard, Notice, Provenance, Report
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
from assayer_client.llm_requests import Fault, FaultCount, FaultKind, Message
from assayer_client.points import (
    Citation,
    ClaimSupport,
    FurtherQuote,
    Label,
    Point,
    Score,
    ScoreCertainty,
    SupportOutcome,
)
from assayer_client.reports import (
    Assessment,
    Blinding,
    CorpusFit,
    FieldOrigin,
    FitLevel,
    FlagKind,
    MaskedKind,
    MaskedText,
    Operation,
    Part,
    Reading,
    Reference,
    Retraction,
    RunUsage,
    SourceUse,
    Summary,
    TaskTokens,
    TextFlag,
)
from assayer_client.resources import Absent, Dropped, IdeaId, PaperId, PromptVersion
