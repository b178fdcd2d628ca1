"""TeX macros and environments, classified by what they print. Arguments are in pylatexenc's notation: `*` for a star,
`[` for an optional argument, `{` for a required one."""

HEADING_LEVELS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6,
}  # fmt: skip
FRONT_MATTER_MACROS = (
    "author", "date", "thanks", "affiliation", "affil", "institute", "address", "email", "orcid", "institution",
    "committee", "director", "supervisor", "supervisors", "advisor", "advisors", "adviser", "coadvisor", "cosupervisor",
    "promotor", "copromotor", "reader", "examiner", "studentname", "authorname",
)  # fmt: skip
TITLE_MACROS = ("title", "icmltitle", "Title")
CITATION_MACROS = (
    "cite", "citep", "citet", "citealp", "citealt", "citeauthor", "citeyear", "citeyearpar", "citenum", "parencite",
    "textcite", "autocite", "footcite", "fullcite", "supercite", "smartcite", "Citet", "Citep", "Cite", "Textcite",
    "Parencite", "Autocite", "citefullauthor", "shortcite", "onlinecite", "citetext", "footcitetext", "citeA",
    "citeN", "footfullcite", "citetitle", "Citetitle", "citedate", "Citeauthor", "Smartcite", "Footcite", "Supercite",
    "volcite", "notecite", "pnotecite", "citeNP", "shortciteA", "shortciteNP", "fullciteA", "maskcite", "citeasnoun",
    "citeaffixed", "possessivecite", "citepos", "citeonline",
)  # fmt: skip
IGNORED_MACROS = {
    "includeonly": "{",
    "label": "{", "vspace": "*{", "hspace": "*{", "includegraphics": "*[[{", "bibliographystyle": "{",
    "setlength": "{{",
    "usepackage": "[{", "pagestyle": "{", "thispagestyle": "{", "input": "{", "include": "{", "addtolength": "{{",
    "setcounter": "{{", "addtocounter": "{{", "hyphenation": "{", "phantomsection": "", "addcontentsline": "{{{",
    "markboth": "{{", "renewcommand": "{{", "newtheorem": "*{[{[", "theoremstyle": "{", "DeclareMathOperator": "{{",
    "graphicspath": "{", "bibliography": "{", "addbibresource": "[{", "printbibliography": "[", "definecolor": "{{{",
    "resizebox": "{{", "rule": "[{{", "fontsize": "{{", "cline": "{", "index": "{", "hypersetup": "{",
    "documentclass": "[{", "newlength": "{", "pdfbookmark": "[{{", "captionsetup": "[{", "setstretch": "{",
    "linespread": "{", "color": "{", "nocite": "{", "icmltitlerunning": "{", "titlerunning": "{", "authorrunning": "{",
    "footnotemark": "[", "newif": "", "raisebox": "{[[", "columnwidth": "", "multirow": "{{", "multicolumn": "{{",
    "rowcolor": "{", "cellcolor": "{", "ccsdesc": "[{", "keywordsname": "", "protect": "",
    "APACinsertmetastar": "{", "PrintBackRefs": "{", "BCBT": "", "BCBL": "", "APACmetastar": "", "CurrentBib": "",
    "bibcomputerbelow": "", "glsaddall": "", "makeglossaries": "", "printglossary": "[", "printglossaries": "",
    "printacronyms": "[", "acsetup": "{", "sisetup": "{", "MR": "{", "printnoidxglossary": "[", "relax": "",
    "BibitemOpen": "", "BibitemShut": "{", "bibAnnoteFile": "{", "bibAnnote": "{{",
    "lstset": "{", "tikzset": "{", "pgfplotsset": "{", "usetikzlibrary": "{", "makeatletter": "", "makeatother": "",
}  # fmt: skip
"""Macros that print nothing, with their arguments, which are not text."""
AUTHOR_NOTE_MACROS = ("todo", "fixme", "missingfigure", "marginpar")
HIDDEN_MACROS = ("phantom", "hphantom", "vphantom")
LINK_MACROS = ("url", "nolinkurl", "path")
PRINTED_TEXTS = {
    "BBA": "&", "BBACOMMA": ",", "BBOP": "(", "BBCP": ")", "BBOQ": "", "BBCQ": "", "BED": "Ed.", "BEDS": "Eds.",
    "BIn": "In", "BPG": "p.", "BPGS": "pp.", "BVOL": "Vol.", "BVOLS": "Vols.", "BNUM": "No.", "BCHAP": "chap.",
    "BAvailFrom": "Retrieved from ", "BRetrieved": "Retrieved ", "BRetrievedFrom": "Retrieved from",
    "BPhD": "Doctoral dissertation",
    "BUMTh": "Unpublished master’s thesis", "BUPhD": "Unpublished doctoral dissertation", "BTR": "Tech. Rep.",
    "BOthers": "et al", "BOthersPeriod": "et al.", "DOIprefix": "doi:", "textmu": "µ", "textdegree": "°",
    "degree": "°", "celsius": "°C", "textordmasculine": "º",
}  # fmt: skip
"""Macros without arguments and what they print; most are those of reference lists in the style apacite."""
QUOTE_MACROS = {
    "enquote": "*{", "say": "{", "textquote": "*[[{", "blockquote": "*[[{", "foreignquote": "*{{",
    "foreigntextquote": "*{[[{", "textcquote": "*[[{[{", "blockcquote": "*[[{[{",
}  # fmt: skip
"""Macros that print quotation marks around their last argument."""
REFERENCE_MACROS = ("ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "vref")
FORMULA_ENVIRONMENTS = (
    "equation", "align", "gather", "multline", "displaymath", "eqnarray", "math", "flalign", "alignat", "dmath",
)  # fmt: skip
DRAWING_ENVIRONMENTS = ("tikzpicture", "pgfpicture", "picture", "CCSXML", "axis", "filecontents")
LIST_ENVIRONMENTS = ("itemize", "enumerate", "description", "compactitem", "compactenum", "inparaenum", "acronym")
TABLE_ENVIRONMENTS = ("tabular", "tabularx", "tabulary", "longtable", "array", "tblr")
BIBLIOGRAPHY_ENVIRONMENTS = ("thebibliography", "references")
STATEMENT_ENVIRONMENTS = frozenset(
    {
        "theorem", "lemma", "definition", "hypothesis", "proposition", "corollary", "remark", "example", "assumption",
        "claim", "conjecture", "aim", "objective", "question",
    }
)  # fmt: skip
ABSTRACT_HEADINGS = {"abstract": "Abstract", "summary": "Summary", "keywords": "Keywords", "keyword": "Keywords"}
ENVIRONMENT_ARGUMENTS = {
    "minipage": "[[[{", "acronym": "[", "wrapfigure": "[{[{", "wraptable": "[{[{", "multicols": "{",
    "thebibliography": "{",
    "tabular": "[{", "tabular*": "{[{", "tabularx": "{[{", "tabulary": "{{", "longtable": "[{", "array": "[{",
    "adjustbox": "{", "subfigure": "[[[{", "subtable": "[[[{", "figure": "[", "table": "[", "figure*": "[",
    "table*": "[",
    "enumerate": "[", "itemize": "[", "description": "[", "tcolorbox": "[", "mdframed": "[", "alignat": "{",
    "adjustwidth": "{{", "spacing": "{", "tblr": "[{", "frame": "[[", "landscape": "",
}  # fmt: skip
