"""Quotes and sources: what must be found, and what must not. Two checkers written apart are held against them."""

_TRIAL = "the drug did not reduce mortality in the treated group by 12.4 % after one year of follow-up in all centres"

NOT_FOUND = [
    ("able to generalise well to new tasks", "Models are unable to generalise well to new tasks."),
    ("significant improvement", "an insignificant improvement"),
    ("significant improvement", "a non-significant improvement"),
    ("significant improvement was seen", "a non-\nsignificant improvement was seen"),
    ("groups differed with p < 0.05", "groups differed with p > 0.05"),
    ("groups differed with p < 0.05", "groups differed with p ≤ 0.05"),
    ("groups differed with p < 0.05", "groups differed with p < 0.005"),
    ("3.2 points lower accuracy", "a change of −3.2 points lower accuracy"),
    ("a change of 3.2 points in accuracy", "a change of -3.2 points in accuracy"),
    ("a change of 3.2 points in accuracy", "a change of 32 points in accuracy"),
    ("the mean was 5.1 ± 0.2 seconds", "the mean was 5.1 − 0.2 seconds"),
    (_TRIAL.replace("not ", "").replace("12.4", "42.4"), _TRIAL),
    (_TRIAL.replace("not ", ""), _TRIAL),
    (_TRIAL.replace("12.4", "42.4"), _TRIAL),
    (_TRIAL.replace("mortality", "morbidity"), _TRIAL),
    (_TRIAL.replace(" %", ""), _TRIAL),
    ("5 % of all the patients", "12.5 % of all the patients"),
    ("mortality fell by 12.4", "mortality fell by 12.4 % in a year"),
    ("15 times faster than the rest", "2-15 times faster than the rest"),
    ("215 times faster than the rest", "2-15 times faster than the rest"),
    ("it was not able to improve any of the eight tasks", "it was notable to improve any of the eight tasks"),
    ("Our treatment did … reduce mortality in men", "Our treatment did not reduce mortality in men"),
    ("reduce mortality in men … our new treatment", "our new treatment did reduce mortality in men"),
    ("the effects … seen", "the effects that we have seen"),
    ("103 samples were collected", "10³ samples were collected"),
    (
        "adsorption of the gas was measured in all of the samples",
        "absorption of the gas was measured in all of the samples",
    ),
    ("the effect of mediation on the outcome was very small", "the effect of medication on the outcome was very small"),
    ("typical presentations of the disease", "a-typical presentations of the disease"),
    ("we recommend GPT", "we recommend GPT-4"),
    ("a few words", "a few words"),
]

STANDING = [
    ("the objective is inherently non robust", "The objective is inherently non-robust."),
    ("a not so good objective", "it is a not-so-good objective"),
    ("“Fine‑tuning helps in ﬁve tasks,”", "we saw that fine-tuning helps in five tasks."),
    (
        "71.3% accuracy which is 4 points below human agree-ment",
        "71.3 % accuracy, which is 4 points below human agreement",
    ),
    ("4 points below human agreement", "4 points below human agree-\nment"),
    ("p <= .05 was deemed significant", "(p ≤ 0.05) was deemed significant"),
    ("a change of -3.2 points in accuracy", "a change of −3.2 points in accuracy"),
    ("it reached an accuracy of 0.81", "it reached an accuracy of 0·81"),
    ("and long-term effects were found", "short- and long-term effects were found"),
    ("… out of domain accuracy drops …", "out-of-domain accuracy drops to 58%"),
    ("the effects of tuning … on very many tasks", "the effects of tuning are seen on very many tasks"),
    (
        "the effects of tuning [...] on very many tasks",
        "the effects of tuning are seen on very many tasks",
    ),
    ("that depend on $x_1, ..., x_n$ alone", "functions that depend on $x_1, ..., x_n$ alone"),
    ("the model doesn't generalise at all", "the model doesn’t generalise at all"),
    (
        "it generalizes to the behavior of all the groups",
        "it generalises to the behavior of all the groups",
    ),
    ("we expect the labeled behavior in all the groups", "we expect the labeled behaviour in all the groups"),
    (
        "we observe that performance drops in most of the tasks",
        "we observe that perfromance drops in most of the tasks",
    ),
    ("we can accommodate more than two of the larger models", "we can accomodate more than two of the larger models"),
    (
        "in international studies of the disease in young adults",
        "in intemational studies of the disease in young adults",
    ),
    (
        "each dataset holds more than nine hundred samples of text",
        "each data set holds more than nine hundred samples of text",
    ),
    ("ViGLUE is a Vietnamese General benchmark", "**ViGLUE** is a **Vi**etnamese **G**eneral benchmark"),
    ("zero\u00adwidth words are\u200b removed", "zerowidth words are removed"),
]
