"""The stores for people's work on a call's proposals: assignments, opinions, decisions and letters."""

from orchestrator.store.assigned_tables import PgAssignedTables
from orchestrator.store.assignments import PgAssignments
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.bids import PgBids
from orchestrator.store.call_reviewers import PgCallReviewers
from orchestrator.store.database import Database
from orchestrator.store.decisions import PgDecisions
from orchestrator.store.expertise import PgExpertise
from orchestrator.store.letters import PgLetters
from orchestrator.store.mails import PgMails
from orchestrator.store.members import PgMembers
from orchestrator.store.opinions import PgOpinions, PgRemarks
from orchestrator.store.panels import PgPanels
from orchestrator.store.proposal_decisions import PgProposalDecisions


class ReviewingStores:
    def __init__(self, database: Database, audit_log: PgAuditLog, mails: PgMails, members: PgMembers) -> None:
        self.assignments = PgAssignments(database, audit_log, mails)
        self.assigned_tables = PgAssignedTables(database)
        self.call_reviewers = PgCallReviewers(database, audit_log, members)
        self.expertise = PgExpertise(database, audit_log)
        self.bids = PgBids(database, audit_log, self.assignments, mails)
        self.opinions = PgOpinions(database, audit_log)
        self.decisions = PgDecisions(database, audit_log)
        self.proposal_decisions = PgProposalDecisions(database, audit_log)
        self.letters = PgLetters(database, audit_log)
        self.panels = PgPanels(database)
        self.remarks = PgRemarks(database, audit_log)
