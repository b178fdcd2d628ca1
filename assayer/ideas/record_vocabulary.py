"""Field names in proposal records, as funders, conferences and programs write them, in normal form
(`record_fields.normal_name`)."""

TEXTS = frozenset({"text", "proposal", "proposal_text", "full_text", "project_description"})
"""Fields that hold the whole text."""

PARTS = (
    "abstract", "summary", "tldr", "idea", "background", "introduction", "motivation", "problem", "problem_statement",
    "research_question", "research_questions", "hypothesis", "hypotheses", "related_work", "objective",
    "objectives", "aims", "goals", "approach", "proposed_approach", "method", "methods", "proposed_method",
    "methodology", "data", "experiment", "experiments", "experiment_design", "experiment_plan",
    "experimental_design", "step_by_step_experiment_plan", "evaluation", "analysis", "test_case_examples",
    "expected_results", "expected_outcomes", "contributions", "impact", "limitations", "risks", "fallback_plan",
    "timeline",
)  # fmt: skip
"""Fields that form an idea if there is no `text`, in the order in which they are joined."""

_FILLER_WORDS = """
    project proposal award research idea short proposed full scientific technical tech plain lay public text txt
    narrative narr narration statement section description content body the of for and"""
FILLERS = frozenset(_FILLER_WORDS.split())
"""Words in a field's name that do not indicate which part of a proposal the field holds."""
SYNONYMS = {
    "abst": "abstract", "abstr": "abstract", "abstracts": "abstract", "aim": "aims", "goal": "goals",
    "potential_impact": "impact", "planned_impact": "impact", "health_relevance": "impact", "phr": "impact",
    "significance": "impact", "innovation": "contributions", "tl_dr": "tldr", "tl_dr_": "tldr",
    "one_sentence_summary": "tldr", "specific_aims": "aims", "risk_factors_limitations": "limitations",
    "existing_methods": "related_work", "case_support": "problem", "objectif": "objective", "resumen": "abstract",
    "resume": "abstract", "résumé": "abstract", "resumo": "abstract", "zusammenfassung": "abstract", "摘要": "abstract",
}  # fmt: skip
"""Part that a field holds, keyed by the field's name without fillers."""
SHOWN = {
    "phr": "Public health relevance", "tldr": "TL;DR", "tl_dr": "TL;DR", "abst": "Abstract",
    "abst_narr": "Abstract", "tech_abstract": "Technical abstract",
}  # fmt: skip
"""Section titles for fields with abbreviated names."""

TITLES = (
    "title", "project_title", "proposal_title", "award_title", "idea_title", "paper_title", "research_title",
)  # fmt: skip
TITLE_WORDS = frozenset({"title", "titl", "titel", "titre", "titulo", "título", "题目", "标题", "项目名称"})
OTHER_TITLES = frozenset({
    "short", "running", "journal", "venue", "container", "job", "series", "book", "call", "programme", "program",
    "person", "en", "alternative",
})  # fmt: skip
"""Words that, beside `title` in a field's name, show that the field holds the title of something else."""

_PEOPLE_WORDS = """
    author authors authorids authorid pi pis copi copis investigator investigators coinvestigators contact email
    applicant applicants submitter leader leaders surname firstname lastname person people readers writers signatures
    nonreaders officer manager signatories researcher researchers principal team bibtex paperhash pdpi fellow
    supervisor supervisors"""
PEOPLE = frozenset(_PEOPLE_WORDS.split())
_ORGANISATION_WORDS = """
    organization organisation org orgs organizations organisations institution institutions university department
    awardee funder agency company affiliation affiliations coordinator participants participant ro ic institute address
    street city state country region congressional district duns uei ipf"""
ORGANISATIONS = frozenset(_ORGANISATION_WORDS.split())
_REMARK_NAMES = """
    official_review meta_review metareview decision rating ratings confidence recommendation recommendations replies
    direct_replies details interestingness excitement verdict comment comments feedback remarks note notes
    internal_notes"""
REMARKS = frozenset(_REMARK_NAMES.split())
"""Fields that contain judgements of the proposal by reviewers or by the creator of the record."""
INDEX_TERMS = frozenset({"terms", "pref_terms", "project_terms", "spending_categorization", "spending_categories"})
KEYWORDS = frozenset({"keywords", "keyword", "topics", "topic", "subject_areas", "research_area", "research_areas"})
