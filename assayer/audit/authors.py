"""The invented people of the audit: names of several origins, institutions, and stages of a career."""

from typing import Literal, NamedTuple

__all__ = ["INSTITUTIONS", "ORIGINS", "STAGES", "AuditedPerson", "Gender", "person"]

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
"""The first is what the others are compared with. Both genders of one entry share their surname."""

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


class AuditedPerson(NamedTuple):
    name: str
    stage: str
    """As a byline has it: `Full professor`."""
    institution: str
    """As a sentence has it: `the University of Oxford`."""

    @property
    def role(self) -> str:
        """As a sentence has it: `a full professor`."""
        return f"a {self.stage.lower()}"

    @property
    def affiliation(self) -> str:
        """As a byline has it, without an article."""
        return self.institution.removeprefix("the ")


def person(
    idea: int,
    origin: str = "English",
    gender: Gender = "male",
    institution: Literal["renowned", "lesser-known"] = "lesser-known",
    stage: Literal["early", "late"] = "early",
) -> AuditedPerson:
    """Of the idea with this number: names and institutions change from idea to idea, so that no one of them decides."""
    names = ORIGINS[origin][idea % len(ORIGINS[origin])]
    given = names.female if gender == "female" else names.male
    places = INSTITUTIONS[institution]
    return AuditedPerson(f"{given} {names.family}", STAGES[stage], places[idea % len(places)])
