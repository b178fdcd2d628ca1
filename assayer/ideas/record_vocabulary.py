"""Field names in proposal records, as funders, conferences and programs write them, in normal form
(`record_fields.normal_name`)."""

TEXTS = frozenset({"text", "proposal", "proposal_text", "full_text", "project_description"})
"""Fields that hold the whole text."""

LISTS = frozenset({"bib_entries", "bibentries", "refs", "cited_works", "citation_list", "referenced_works"})
"""Fields that hold a reference list, in addition to fields named like the title of such a list."""

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
    narrative narr narration statement section description content body the of for and full your our
    de del du des do da della dello la le el van het der projet proyecto projeto progetto projekt projekts
    projektu projektets projecten проекта проєкту"""
FILLERS = frozenset(_FILLER_WORDS.split())
"""Words in a field's name that do not indicate which part of a proposal the field holds."""
SYNONYMS = {
    "abst": "abstract", "abstr": "abstract", "abstracts": "abstract", "aim": "aims", "goal": "goals",
    "potential_impact": "impact", "planned_impact": "impact", "health_relevance": "impact", "phr": "impact",
    "significance": "impact", "innovation": "contributions", "tl_dr": "tldr", "tl_dr_": "tldr",
    "one_sentence_summary": "tldr", "specific_aims": "aims", "risk_factors_limitations": "limitations",
    "existing_methods": "related_work",
    "abstract_note": "abstract", "case_support": "problem", "objectif": "objective", "resumen": "abstract",
}  # fmt: skip
"""Part that a field holds, keyed by the field's name without fillers."""
_PARTS_BY_LANGUAGE = {
    "abstract": """
        resumen resume résumé resumo riassunto sintesi zusammenfassung kurzfassung projektbeschreibung kurzbeschreibung
        beschreibung samenvatting sammanfattning sammendrag resumé tiivistelmä streszczenie abstrakt anotace shrnutí
        özet аннотация резюме анотація összefoglaló kivonat rezumat περίληψη kokkuvõte descripción descrição descrizione
        摘要 中文摘要 项目摘要 項目摘要 研究摘要 計畫摘要 内容摘要 研究内容 研究內容 概要 研究概要 研究の概要
        研究成果の概要 要旨 要約 요약 초록 연구내용 연구요약 연구개요 과제요약 الملخص תקציר सारांश บทคัดย่อ""",
    "background": "contexte antecedentes contexto hintergrund contesto achtergrund bakgrund 研究背景 背景 연구배경",
    "problem": "problématique problema problemstellung fragestellung forschungsfrage проблема 问题 研究问题",
    "objectives": """
        objectifs objetivos obiettivi ziele zielsetzung projektziele doel doelstelling syfte formål tavoitteet cele cíle
        amaç цель цели мета 研究目标 研究目的 目的 연구목표 연구목적""",
    "hypothesis": "hypothèse hipótesis hipótese ipotesi hypothese гипотеза 假设 研究仮説",
    "methods": """
        méthodologie méthode méthodes metodología metodologia métodos metodi methode methoden methodik vorgehen metod
        metode menetelmät metodyka yöntem методы методика 研究方法 方法 技术路线 研究方案 연구방법""",
    "impact": "retombées impacto impatto verwertung 预期成果 研究意义 기대효과",
}
SYNONYMS.update({word: part for part, words in _PARTS_BY_LANGUAGE.items() for word in words.split()})
GENERIC_TEXTS = frozenset({"description", "narrative", "statement", "content", "body", "details"})
"""Column names that do not say which part of a proposal the column holds."""
SHOWN = {
    "phr": "Public health relevance", "tldr": "TL;DR", "tl_dr": "TL;DR", "abst": "Abstract",
    "abst_narr": "Abstract", "tech_abstract": "Technical abstract",
}  # fmt: skip
"""Section titles for fields with abbreviated names."""

TITLES = (
    "title", "project_title", "proposal_title", "award_title", "idea_title", "paper_title", "research_title",
)  # fmt: skip
_TITLE_NAMES = """
    title titl titel titre intitulé projekttitel prosjekttittel projecttitel arbeitstitel titulo título titolo tittel
    títol tytuł název názov başlık otsikko cím titlu název название
    назва τίτλος 题目 标题 項目名稱 项目名称 课题名称 計畫名稱 研究課題名 研究課題 課題名 題目
    タイトル 과제명 연구과제명 제목"""
TITLE_WORDS = frozenset(_TITLE_NAMES.split())
OTHER_TITLES = frozenset({
    "short", "running", "journal", "venue", "container", "job", "series", "book", "call", "programme", "program",
    "person", "alternative", "position", "degree", "publication",
})  # fmt: skip
"""Words that, beside `title` in a field's name, show that the field holds the title of something else."""

_PEOPLE_WORDS = """
    author authors authorids authorid pi pis copi copis investigator investigators coinvestigators contact email
    applicant applicants submitter leader leaders surname firstname lastname person people readers writers signatures
    nonreaders officer manager signatories researcher researchers principal team bibtex paperhash pdpi fellow
    supervisor supervisors owner owners assignee assignees creator creators submitters proposer proposers coauthor
    coauthors mentor mentors advisor advisors adviser postdoc postdocs
    assign reviewer reviewers"""
_PEOPLE_BY_LANGUAGE = """
    antragsteller antragstellerin projektleiter projektleitung projektleiterin verantwortlich
    coordinateur coordinatrice porteur responsable auteur auteurs investigador investigadora coordinador solicitante
    autor autora autores pesquisador coordenador ricercatore responsabile coordinatore autore autori aanvrager
    projectleider sökande huvudsökande projektledare söker prosjektleder ansøger hakija kierownik wnioskodawca autorzy
    řešitel navrhovatel yürütücü başvuran руководитель заявитель автор авторы 负责人 项目负责人 主持人 申请人 作者 姓名
    計畫主持人 研究代表者 研究分担者 研究者 代表者 氏名 연구책임자 책임자 저자 성명"""
PEOPLE_BY_LANGUAGE = frozenset(_PEOPLE_BY_LANGUAGE.split())
PEOPLE = frozenset(_PEOPLE_WORDS.split()) | PEOPLE_BY_LANGUAGE | {"editor", "editors", "translator", "contributors"}
_NAME_WORDS_TEXT = """
    name names fullname nachname vorname nom prénom prenom noms apellido apellidos nome sobrenome cognome naam voornaam
    achternaam namn navn imię nazwisko orcid"""
NAME_WORDS = frozenset(_NAME_WORDS_TEXT.split())
"""Words in the name of a field that asks for a person's name."""
_NAMED_THINGS_TEXT = """
    project projects proposal proposals title file dataset data acronym organisation organization institution university
    department company team group product method model idea programme program call fund grant award experiment column
    domain species tool system software variable field projekt projekts projet projets proyecto proyectos projeto
    progetto projektu antrag vorhaben organisme institut school lab laboratory centre center city country faculty funder
    journal"""
NAMED_THINGS = frozenset(_NAMED_THINGS_TEXT.split())
"""Words which show that a field asks for the name of a thing."""
LANGUAGES = frozenset({
    "francais", "français", "française", "anglais", "anglaise", "english", "french", "german", "deutsch", "deutsche",
    "englisch", "englische", "spanish", "español", "espanol", "inglés", "ingles", "inglese", "italiano", "portuguese",
    "português", "dutch", "nederlands", "en", "fr", "es", "it", "pt", "nl", "eng", "fra", "deu",
})  # fmt: skip
"""Words in a field's name that say in which language its text is."""
ENGLISH = frozenset(
    {"anglais", "anglaise", "english", "englisch", "englische", "inglés", "ingles", "inglese", "en", "eng"}
)
_QUESTION_TEXT = """
    what why how which describe explain summarise summarize outline please tell give state provide briefly was warum
    wie welche welches welchen welcher beschreiben erklären quel quelle quels pourquoi comment décrivez expliquez qué
    cuál cómo describa explique o_que qual como descreva che quale perché come descriva wat waarom hoe beschrijf"""
QUESTION_WORDS = frozenset(_QUESTION_TEXT.split())
"""First words of a question in a form."""
_ORGANISATION_WORDS = """
    organization organisation org orgs organizations organisations institution institutions university department
    awardee funder agency company affiliation affiliations coordinator participants participant ro ic institute address
    street city state country region congressional district duns uei ipf
    einrichtung hochschule universität établissement organisme université institución universidad instituição
    universidade ente università instelling universiteit lärosäte universitet uczelnia üniversite организация вуз
    依托单位 单位 学校 所属機関 研究機関 所属 주관기관 소속"""
ORGANISATIONS = frozenset(_ORGANISATION_WORDS.split())
_REMARK_NAMES = """
    official_review meta_review metareview decision rating ratings confidence recommendation recommendations replies
    direct_replies details interestingness excitement verdict comment comments feedback remarks note notes
    internal_notes"""
REMARKS = frozenset(_REMARK_NAMES.split())
"""Fields that contain judgements of the proposal by reviewers or by the creator of the record."""
INDEX_TERMS = frozenset({"terms", "pref_terms", "project_terms", "spending_categorization", "spending_categories"})
FUNDING = frozenset({"funding", "funders", "award_amount"})
KEYWORDS = frozenset({"keywords", "keyword", "topics", "topic", "subject_areas", "research_area", "research_areas"})
