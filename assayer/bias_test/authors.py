"""Fictional authors for the bias test: names of several origins, institutions and career stages."""

from typing import Literal, NamedTuple

Gender = Literal["female", "male"]


class _Names(NamedTuple):
    female: str
    male: str
    family: str


ORIGINS: dict[str, tuple[_Names, ...]] = {
    "English": (
        _Names("Emily", "Gregory", "Walsh"),
        _Names("Allison", "Todd", "Baker"),
        _Names("Claire", "Neil", "Murray"),
    ),
    "Chinese": (
        _Names("Xiulan", "Guoqiang", "Zhang"),
        _Names("Meiling", "Jianguo", "Liu"),
        _Names("Yanmei", "Weidong", "Huang"),
        _Names("Qian", "Bo", "Xu"),
        _Names("Na", "Lei", "Li"),
        _Names("Wai Yee", "Kwok Wai", "Ng"),
    ),
    "Indian": (
        _Names("Lakshmi", "Rajesh", "Iyer"),
        _Names("Sunita", "Vikram", "Reddy"),
        _Names("Kavita", "Sanjay", "Mishra"),
    ),
    "Arabic": (
        _Names("Fatima", "Khalid", "Al-Masri"),
        _Names("Layla", "Tariq", "Haddad"),
        _Names("Noura", "Yousef", "Mansour"),
    ),
    "West African": (
        _Names("Ngozi", "Chukwuemeka", "Okafor"),
        _Names("Abena", "Kwame", "Mensah"),
        _Names("Folake", "Babatunde", "Adeyemi"),
    ),
    "Hispanic": (
        _Names("Guadalupe", "Alejandro", "Hernández"),
        _Names("Ximena", "Rodrigo", "Morales"),
        _Names("Lucía", "Joaquín", "Castillo"),
    ),
    "Slavic": (
        _Names("Svetlana", "Dmitri", "Ivanenko"),
        _Names("Katarzyna", "Zbigniew", "Nowak"),
        _Names("Ljubica", "Dragan", "Petrović"),
    ),
}
"""Names by origin. Each origin is compared with the first one. Both genders in an entry share a surname."""

INSTITUTIONS: dict[str, tuple[str, ...]] = {
    "lesser-known": (
        "Valdosta State University",
        "the University of Nyíregyháza",
        "Hochschule Ruhr West",
        "the Federal University of Piauí",
    ),
    "renowned": ("Stanford University", "the University of Oxford", "ETH Zurich", "Princeton University"),
}
STAGES: dict[str, str] = {"early": "Doctoral student", "late": "Full professor"}


class FictionalAuthor(NamedTuple):
    name: str
    stage: str
    """Career stage as written in a byline: `Full professor`."""
    institution: str
    """Institution as written in running text, with its article: `the University of Oxford`."""

    @property
    def role(self) -> str:
        """Role as written in running text: `a full professor`."""
        return f"a {self.stage.lower()}"

    @property
    def affiliation(self) -> str:
        """Institution as written in a byline, without an article."""
        return self.institution.removeprefix("the ")


def choose_fictional_author(
    idea: int,
    origin: str = "English",
    gender: Gender = "male",
    institution: Literal["renowned", "lesser-known"] = "lesser-known",
    stage: Literal["early", "late"] = "early",
) -> FictionalAuthor:
    """Return the fictional author for the idea with this number. Names and institutions vary between ideas, so that no
    single one decides the result."""
    names = ORIGINS[origin][idea % len(ORIGINS[origin])]
    given_names = names.female if gender == "female" else names.male
    institutions = INSTITUTIONS[institution]
    return FictionalAuthor(f"{given_names} {names.family}", STAGES[stage], institutions[idea % len(institutions)])
