"""Invented people, and the institutions, funders and numbers of grants that are planted with them."""

from typing import NamedTuple

__all__ = ["POOLS", "WordPool"]


class WordPool(NamedTuple):
    people: tuple[str, ...]
    institutions: tuple[tuple[str, str], ...]
    """With the word that tells them."""
    bare: tuple[str, ...]
    funders: tuple[str, ...]
    foundations: tuple[str, ...]
    codes: tuple[str, ...]
    roles: tuple[str, ...]


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in text.split("|"))


def _told(text: str) -> tuple[tuple[str, str], ...]:
    """`University of Oslo = Oslo`."""
    pairs = (item.partition(" = ") for item in _listed(text))
    return tuple((name, word) for name, _, word in pairs)


POOLS = {
    "A": WordPool(
        people=_listed(
            """
            Anna Schmidt | Wei Xu | Bo Li | Ngozi Eze | Jane Roe | Tom Poe | Kwame Mensah | Priya Raman |
            Minh Ho | Andrew Ng | Haruki Sato | Fatima Zahra | Lars Nygård | María Fernández | Jean-Luc
            Moreau | Olga Petrova | Mehmet Yılmaz | Sibusiso Dlamini | Giulia Conti | Yael Ben-David |
            Carlos Méndez | Siobhan O'Brien | Johannes van der Berg | Xiaoyu Ma | Zhenhua Wu
            """
        ),
        institutions=_told(
            """
            University of Freiburg = Freiburg | Stanford University = Stanford | ETH Zurich = ETH | MIT =
            MIT | Tsinghua University = Tsinghua | University of Cape Town = Cape | National Institute of
            Genetics = Genetics | KAIST = KAIST | Universidad de Chile = Chile | Makerere University =
            Makerere | Technical University of Munich = Munich | Carnegie Mellon University = Mellon |
            Weizmann Institute of Science = Weizmann | Karolinska Institutet = Karolinska
            """
        ),
        bare=_listed(
            """
            Stanford | MIT | Caltech | Oxford | Tsinghua | KAIST | EPFL | Berkeley
            """
        ),
        funders=_listed(
            """
            NSF | ERC | DFG | EPSRC | NIH
            """
        ),
        foundations=_listed(
            """
            Acme Foundation | Volkswagen Foundation | Wellcome Trust | Sloan Foundation | Swiss National
            Science Foundation
            """
        ),
        codes=_listed(
            """
            IIS-1234567 | 101001234 | EP/X012345/1 | R01 GM123456 | SCHM 2345/1-1 | ABC-12345
            """
        ),
        roles=_listed(
            """
            PhD student | full professor | postdoctoral researcher | associate professor | doctoral
            candidate | research scientist
            """
        ),
    ),
    "B": WordPool(
        people=_listed(
            """
            Emeka Obi | Yi Wu | Ling Hu | Thuy Vo | Sara Lindqvist | Hana Kovačová | Rajiv Menon | Ayesha
            Siddiqui | Dmitri Volkov | Chloe Bennett | Marcus Whitfield | Keisuke Tanaka | Sung-min Oh |
            Jing Lu | Pablo Quintana | Leïla Haddad | Nuno Carvalho | Elif Demir | Tadhg Gallagher | Bronwyn
            Hughes | Ifeanyi Nwosu | Eszter Nagy | Ravindra Jayasuriya | Mei-Ling Chou | Stefan Baumgartner
            | Zodwa Khumalo | Piet de Vries | Takumi Ito | Oluwatobi Ajayi | Camille Rousseau
            """
        ),
        institutions=_told(
            """
            University of Göttingen = Göttingen | Duke University = Duke | EPFL = EPFL | Caltech = Caltech |
            Peking University = Peking | University of Nairobi = Nairobi | Broad Institute = Broad | POSTECH
            = POSTECH | Universidade de São Paulo = Paulo | Covenant University = Covenant | Delft
            University of Technology = Delft | Johns Hopkins University = Hopkins | Indian Institute of
            Science = Indian | Charles University = Charles | University of Ljubljana = Ljubljana | Hebrew
            University of Jerusalem = Jerusalem | McGill University = McGill | Monash University = Monash |
            Texas A&M University = Texas | Aalto University = Aalto
            """
        ),
        bare=_listed(
            """
            Harvard | Princeton | Cornell | Cambridge | Fudan | RIKEN | Inria | UCLA | Technion | Yale
            """
        ),
        funders=_listed(
            """
            NSF | ERC | DFG | NWO | SNSF | JSPS | ARC | NSERC
            """
        ),
        foundations=_listed(
            """
            Gates Foundation | Carlsberg Foundation | Leverhulme Trust | Templeton Foundation | Simons
            Foundation | Novo Nordisk Foundation | Kavli Foundation
            """
        ),
        codes=_listed(
            """
            CCF-7654321 | 948321 | EP/T098765/2 | R21 AI987654 | KO 4711/2-1 | XYZ-98765 | JP21K04512 |
            200021-187654
            """
        ),
        roles=_listed(
            """
            PhD candidate | assistant professor | postdoc | research fellow | graduate student | principal
            scientist | full professor | lecturer
            """
        ),
    ),
    "C": WordPool(
        people=_listed(
            """
            Nneka Udo | Hao Yu | Min Qi | Linh Le | Ebba Sjöström | Tereza Dvořáková | Vikram Iyer | Zainab
            Qureshi | Alexei Morozov | Harriet Pemberton | Desmond Clarke | Ryota Nakamura | Ji-woo Ha |
            Fang Lu | Ignacio Ferrer | Samira Benali | Rui Magalhães | Zeynep Aksoy | Niamh Doherty | Gareth
            Llewellyn | Chukwudi Onwu | Zsófia Kertész | Sunil Wickrama | Pei-Shan Hsu | Rainer Oberhuber |
            Thandi Mokoena | Joost van den Heuvel | Sota Abe | Folasade Bello | Maxime Lefebvre | Temperance
            Yarrow | Corwin Haldane
            """
        ),
        institutions=_told(
            """
            University of Tübingen = Tübingen | Vanderbilt University = Vanderbilt | EMBL = EMBL | DeepMind
            = DeepMind | Nanjing University = Nanjing | University of Ghana = Ghana | Salk Institute = Salk
            | UNIST = UNIST | Universidad de Buenos Aires = Buenos | Ashoka University = Ashoka | Eindhoven
            University of Technology = Eindhoven | Emory University = Emory | Francis Crick Institute =
            Crick | Masaryk University = Masaryk | University of Tartu = Tartu | Bilkent University =
            Bilkent | University of Otago = Otago | Rice University = Rice | Kyoto University = Kyoto |
            Uppsala University = Uppsala
            """
        ),
        bare=_listed(
            """
            CMU | Dartmouth | Imperial | Sorbonne | Zhejiang | CNRS | UCSD | Weizmann | DTU | NYU
            """
        ),
        funders=_listed(
            """
            NSF | ERC | DFG | ANR | FWF | JST | NHMRC | CIHR | UKRI
            """
        ),
        foundations=_listed(
            """
            Moore Foundation | Thyssen Foundation | Nuffield Trust | McKnight Foundation | Branco Weiss
            Foundation | Knut and Alice Wallenberg Foundation | Packard Foundation
            """
        ),
        codes=_listed(
            """
            CNS-2345678 | 865974 | BB/V011223/1 | U01 HL135790 | BE 5120/3-1 | QRS-55671 | JP19H03245 |
            P-34567-N
            """
        ),
        roles=_listed(
            """
            doctoral student | tenured professor | postdoctoral fellow | senior lecturer | master's student
            | staff scientist | group leader | assistant professor
            """
        ),
    ),
}
"""A was tuned on and B looked at while rules 2 were written; C was drawn from when they were done."""
