r"""Numbers and units of the LaTeX package siunitx as text: `\SI{5}{\micro\metre}` becomes `5 µm`.

Runs in the sandboxed process."""

import re
from collections.abc import Mapping, Sequence

from workers.sandbox.tex_groups import read_groups

_MACRO = re.compile(
    r"\\(?P<name>SIrange|SIlist|SI|si|qtyrange|qtylist|qtyproduct|qty|unit|numrange|numlist|numproduct|num|ang)"
    r"\*?(?![a-zA-Z])\s*(?:\[(?P<option>[^\[\]]{0,400})\])?"
)
_GROUPS = {"SIrange": 3, "qtyrange": 3, "SI": 2, "qty": 2, "SIlist": 2, "qtylist": 2, "qtyproduct": 2, "numrange": 2}
"""Number of arguments of a macro, if it has more than one."""
_DECLARED = re.compile(
    r"\\DeclareSI(?:Unit|Prefix)\s*(?:\[[^\[\]]*\])?\s*\{?\s*\\(?P<name>[a-zA-Z]+)\s*\}?\s*\{(?P<text>[^{}]*)\}"
)
_PREFIXES = {
    "yocto": "y", "zepto": "z", "atto": "a", "femto": "f", "pico": "p", "nano": "n", "micro": "µ", "milli": "m",
    "centi": "c", "deci": "d", "deca": "da", "deka": "da", "hecto": "h", "kilo": "k", "mega": "M", "giga": "G",
    "tera": "T", "peta": "P", "exa": "E", "zetta": "Z", "yotta": "Y", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi",
    "tebi": "Ti",
}  # fmt: skip
_UNITS = {
    "metre": "m", "meter": "m", "gram": "g", "kilogram": "kg", "second": "s", "ampere": "A", "kelvin": "K",
    "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa", "joule": "J", "watt": "W",
    "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω", "siemens": "S", "weber": "Wb", "tesla": "T", "henry": "H",
    "lumen": "lm", "lux": "lx", "becquerel": "Bq", "gray": "Gy", "sievert": "Sv", "katal": "kat", "radian": "rad",
    "steradian": "sr", "celsius": "°C", "degreeCelsius": "°C", "degree": "°", "arcminute": "′", "arcsecond": "″",
    "percent": r"\%", "minute": "min", "hour": "h", "day": "d", "hectare": "ha", "litre": "L", "liter": "L",
    "tonne": "t", "electronvolt": "eV", "eV": "eV", "dalton": "Da", "atomicmassunit": "u", "astronomicalunit": "au",
    "bar": "bar", "mmHg": "mmHg", "angstrom": "Å", "nauticalmile": "M", "barn": "b", "knot": "kn", "bit": "bit",
    "byte": "B", "decibel": "dB", "bel": "B", "neper": "Np", "molar": "M",
}  # fmt: skip
_ABBREVIATED = {"kWh": "kWh", "dB": "dB", "kohm": "kΩ", "Mohm": "MΩ"}
_SHORT = re.compile(r"(?P<prefix>[fpnumcdkMGT]?)(?P<unit>m|g|s|A|mol|Hz|N|Pa|J|W|V|K|eV|F|L|l)")
"""Abbreviated macro of a unit, such as `\\km`."""
_POWERS = {"squared": "²", "cubed": "³"}
_POWERS_BEFORE = {"square": "²", "cubic": "³"}
_RAISED = ("tothe", "raiseto")
_PART = re.compile(r"\\(?P<macro>[a-zA-Z]+)\s*(?:\{(?P<power>[^{}]*)\})?|(?P<text>[^\\\s.~]+)|(?P<between>[\s.~]+)")
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<mantissa>[\d.,]*(?:\(\d+\))?(?:(?:\+-|\\pm|±)[\d.,]+)?)(?:[eEdD](?P<exponent>[+-]?\d+))?"
)
_TIMES = re.compile(r"\s*(?:x|\\times)\s*")


def declared_units(source: str) -> dict[str, str]:
    """Return the units that a document declares, by the name of their macro."""
    return {match["name"]: match["text"] for match in _DECLARED.finditer(source)}


def expand_units(source: str, declared: Mapping[str, str]) -> str:
    """Return a source with siunitx's numbers and units as text."""
    source = _DECLARED.sub("", source)
    pieces: list[str] = []
    consumed = 0
    for match in _MACRO.finditer(source):
        name = match["name"]
        groups = read_groups(source, match.end(), _GROUPS.get(name, 1)) if match.start() >= consumed else None
        if groups is not None:
            # The package units has the number in brackets: `\\unit[5]{m}`.
            value = match["option"] if name == "unit" and "=" not in (match["option"] or "=") else ""
            shown = _format_quantity(
                "qty" if value else name, (value, *groups.texts) if value else groups.texts, declared
            )
            pieces += [source[consumed : match.start()], shown]
            consumed = groups.end
    return "".join([*pieces, source[consumed:]])


def _format_quantity(name: str, arguments: Sequence[str], declared: Mapping[str, str]) -> str:
    if name in ("si", "unit"):
        return _format_unit(arguments[0], declared)
    if name == "ang":
        return "".join(
            f"{part.strip()}{sign}" for part, sign in zip(arguments[0].split(";"), "°′″", strict=False) if part
        )
    if "range" in name:
        numbers = f"{_format_number(arguments[0])} to {_format_number(arguments[1])}"
    else:
        *first, last = [_format_number(part) for part in arguments[0].split(";")]
        numbers = f"{', '.join(first)} and {last}" if first else last
    unit = "" if name.startswith("num") else _format_unit(arguments[-1], declared)
    return f"{numbers}{'' if unit in ('°', '′', '″', '') else '~'}{unit}"


def _format_number(number: str) -> str:
    return " × ".join(_format_factor(factor) for factor in _TIMES.split(number.strip()))


def _format_factor(number: str) -> str:
    match = _NUMBER.fullmatch(re.sub(r"[\s~]", "", number))
    if match is None:
        return number
    mantissa = re.sub(r"\+-|\\pm|±", " ± ", match["mantissa"])
    power = f"10^{_exponent(match['exponent'])}" if match["exponent"] else ""
    return match["sign"].replace("-", "−" if power or mantissa else "-") + "×".join(filter(None, (mantissa, power)))


def _exponent(power: str) -> str:
    plain = power.removeprefix("+")
    return plain if plain.isdecimal() and len(plain) == 1 else f"({plain})"


def _format_unit(unit: str, declared: Mapping[str, str]) -> str:
    r"""Return a unit: `m/s` for `\metre\per\second`, `kg m²` for `\kilogram\metre\squared`, `m·s^(-2)` for
    `m.s^{-2}`."""
    if "\\" not in unit:
        return re.sub(
            r"\^\{?(-?\d+)\}?", lambda power: f"^{_exponent(power[1])}", re.sub(r"\s*[.~]\s*", "·", unit.strip())
        )
    written = prefix = power = ""
    is_below = False
    for match in _PART.finditer(unit):
        macro = match["macro"]
        if macro in _POWERS or macro in _RAISED:
            written += _POWERS.get(macro) or f"^{_exponent(match['power'] or '')}"
        elif macro in _POWERS_BEFORE:
            power = _POWERS_BEFORE[macro]
        elif macro == "per":
            is_below = True
        elif macro in _PREFIXES:
            prefix = _PREFIXES[macro]
        elif macro or match["text"]:
            shown = _name_unit(macro, declared) if macro else match["text"]
            written += f"{'/' if is_below else ' ' * bool(written)}{prefix}{shown}{power}"
            prefix, power, is_below = "", "", False
    return written.strip()


def _name_unit(macro: str, declared: Mapping[str, str]) -> str:
    """Return the symbol of a unit, or the name of its macro if it is unknown."""
    if symbol := _UNITS.get(macro) or declared.get(macro) or _ABBREVIATED.get(macro):
        return symbol
    short = _SHORT.fullmatch(macro)
    return f"{short['prefix'].replace('u', 'µ')}{short['unit']}" if short else macro
