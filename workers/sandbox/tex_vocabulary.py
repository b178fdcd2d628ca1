"""TeX macros and environments, classified by what they print. Arguments are in pylatexenc's notation: `*` for a star,
`[` for an optional argument, `{` for a required one."""

LEVELS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6,
}  # fmt: skip
FRONT = (
    "author", "date", "thanks", "affiliation", "affil", "institute", "address", "email", "orcid", "institution",
    "committee", "director", "supervisor", "supervisors", "advisor", "advisors", "adviser", "coadvisor", "cosupervisor",
    "promotor", "copromotor", "reader", "examiner", "studentname", "authorname",
)  # fmt: skip
TITLES = ("title", "icmltitle", "Title")
IGNORED = {
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
    "BibitemOpen": "", "BibitemShut": "{", "bibAnnoteFile": "{", "bibAnnote": "{{",
    "lstset": "{", "tikzset": "{", "pgfplotsset": "{", "usetikzlibrary": "{", "makeatletter": "", "makeatother": "",
}  # fmt: skip
"""Macros that print nothing, with their arguments, which are not text."""
NOTES_TO_AUTHORS = ("todo", "fixme", "missingfigure", "marginpar")
HIDDEN = ("phantom", "hphantom", "vphantom")
LINKS = ("url", "nolinkurl", "path")
REFERENCES = ("ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "vref")
FORMULAS = (
    "equation", "align", "gather", "multline", "displaymath", "eqnarray", "math", "flalign", "alignat", "dmath",
)  # fmt: skip
VERBATIM = ("verbatim", "lstlisting", "minted", "Verbatim", "alltt")
DRAWINGS = ("tikzpicture", "pgfpicture", "picture", "CCSXML", "axis", "filecontents")
LISTS = ("itemize", "enumerate", "description", "compactitem", "compactenum", "inparaenum")
TABLES = ("tabular", "tabularx", "tabulary", "longtable", "array", "tblr")
BIBLIOGRAPHIES = ("thebibliography", "references")
STATEMENTS = frozenset(
    {
        "theorem", "lemma", "definition", "hypothesis", "proposition", "corollary", "remark", "example", "assumption",
        "claim", "conjecture", "aim", "objective", "question",
    }
)  # fmt: skip
ABSTRACTS = {"abstract": "Abstract", "summary": "Summary", "keywords": "Keywords", "keyword": "Keywords"}
ENVIRONMENT_ARGUMENTS = {
    "minipage": "[[[{", "wrapfigure": "[{[{", "wraptable": "[{[{", "multicols": "{", "thebibliography": "{",
    "tabular": "[{", "tabular*": "{[{", "tabularx": "{[{", "tabulary": "{{", "longtable": "[{", "array": "[{",
    "adjustbox": "{", "subfigure": "[[[{", "subtable": "[[[{", "figure": "[", "table": "[", "figure*": "[",
    "table*": "[",
    "enumerate": "[", "itemize": "[", "description": "[", "tcolorbox": "[", "mdframed": "[", "alignat": "{",
    "adjustwidth": "{{", "spacing": "{", "tblr": "[{", "frame": "[[", "landscape": "",
}  # fmt: skip
