r"""Numbers and units of the LaTeX package siunitx as text: `\SI{5}{\micro\metre}` becomes `5 µm`.

Runs in the sandboxed process."""

import re
from collections.abc import Mapping, Sequence

from workers.sandbox.tex_groups import read_groups

_MACRO = re.compile(
    r"\\(?P<name>SIrange|SIlist|SI|si|qtyrange|qtylist|qtyproduct|qty|unit|numrange|numlist|numproduct|num|ang)"
    r"\*?(?![a-zA-Z])\s*(?:\[(?P<option>[^\[\]]{0,400})\])?"
)
_ARGUMENT_COUNTS = {
    "SIrange": 3,
    "qtyrange": 3,
    "SI": 2,
    "qty": 2,
    "SIlist": 2,
    "qtylist": 2,
    "qtyproduct": 2,
    "numrange": 2,
}
"""Number of arguments of a macro, if it has more than one."""
_DECLARATION = re.compile(
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
_ABBREVIATED_UNITS = {"kWh": "kWh", "dB": "dB", "kohm": "kΩ", "Mohm": "MΩ"}
_SHORT_UNIT = re.compile(r"(?P<prefix>[fpnumcdkMGT]?)(?P<unit>m|g|s|A|mol|Hz|N|Pa|J|W|V|K|eV|F|L|l)")
"""Abbreviated macro of a unit, such as `\\km`."""
_POWERS = {"squared": "²", "cubed": "³"}
_POWERS_BEFORE = {"square": "²", "cubic": "³"}
_POWER_MACROS = ("tothe", "raiseto")
_UNIT_PART = re.compile(
    r"\\(?P<macro>[a-zA-Z]+)\s*(?:\{(?P<power>[^{}]*)\})?|(?P<text>[^\\\s.~]+)|(?P<between>[\s.~]+)"
)
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<mantissa>[\d.,]*(?:\(\d+\))?(?:(?:\+-|\\pm|±)[\d.,]+)?)(?:[eEdD](?P<exponent>[+-]?\d+))?"
)
_TIMES = re.compile(r"\s*(?:x|\\times)\s*")


def read_declared_units(source: str) -> dict[str, str]:
    """Return the units that a document declares, by the name of their macro."""
    return {match["name"]: match["text"] for match in _DECLARATION.finditer(source)}


def expand_units(source: str, declared_units: Mapping[str, str]) -> str:
    """Return a source with siunitx's numbers and units as text."""
    source = _DECLARATION.sub("", source)
    pieces: list[str] = []
    consumed = 0
    for match in _MACRO.finditer(source):
        name = match["name"]
        groups = read_groups(source, match.end(), _ARGUMENT_COUNTS.get(name, 1)) if match.start() >= consumed else None
        if groups is not None:
            # The package units has the number in brackets: `\\unit[5]{m}`.
            value = match["option"] if name == "unit" and "=" not in (match["option"] or "=") else ""
            quantity = _format_quantity(
                "qty" if value else name, (value, *groups.texts) if value else groups.texts, declared_units
            )
            pieces += [source[consumed : match.start()], quantity]
            consumed = groups.end
    return "".join([*pieces, source[consumed:]])


def _format_quantity(name: str, arguments: Sequence[str], declared_units: Mapping[str, str]) -> str:
    if name in ("si", "unit"):
        return _format_unit(arguments[0], declared_units)
    if name == "ang":
        return "".join(
            f"{part.strip()}{sign}" for part, sign in zip(arguments[0].split(";"), "°′″", strict=False) if part
        )
    if "range" in name:
        numbers = f"{_format_number(arguments[0])} to {_format_number(arguments[1])}"
    else:
        *first_numbers, last_number = [_format_number(part) for part in arguments[0].split(";")]
        numbers = f"{', '.join(first_numbers)} and {last_number}" if first_numbers else last_number
    unit = "" if name.startswith("num") else _format_unit(arguments[-1], declared_units)
    return f"{numbers}{'' if unit in ('°', '′', '″', '') else '~'}{unit}"


def _format_number(number: str) -> str:
    return " × ".join(_format_factor(factor) for factor in _TIMES.split(number.strip()))


def _format_factor(number: str) -> str:
    match = _NUMBER.fullmatch(re.sub(r"[\s~]", "", number))
    if match is None:
        return number
    mantissa = re.sub(r"\+-|\\pm|±", " ± ", match["mantissa"])
    power = f"10^{_format_exponent(match['exponent'])}" if match["exponent"] else ""
    return match["sign"].replace("-", "−" if power or mantissa else "-") + "×".join(filter(None, (mantissa, power)))


def _format_exponent(power: str) -> str:
    unsigned = power.removeprefix("+")
    return unsigned if unsigned.isdecimal() and len(unsigned) == 1 else f"({unsigned})"


def _format_unit(unit: str, declared_units: Mapping[str, str]) -> str:
    r"""Return a unit: `m/s` for `\metre\per\second`, `kg m²` for `\kilogram\metre\squared`, `m·s^(-2)` for
    `m.s^{-2}`."""
    if "\\" not in unit:
        return re.sub(
            r"\^\{?(-?\d+)\}?", lambda power: f"^{_format_exponent(power[1])}", re.sub(r"\s*[.~]\s*", "·", unit.strip())
        )
    formatted = prefix = power = ""
    is_in_denominator = False
    for match in _UNIT_PART.finditer(unit):
        macro = match["macro"]
        if macro in _POWERS or macro in _POWER_MACROS:
            formatted += _POWERS.get(macro) or f"^{_format_exponent(match['power'] or '')}"
        elif macro in _POWERS_BEFORE:
            power = _POWERS_BEFORE[macro]
        elif macro == "per":
            is_in_denominator = True
        elif macro in _PREFIXES:
            prefix = _PREFIXES[macro]
        elif macro or match["text"]:
            symbol = _find_unit_symbol(macro, declared_units) if macro else match["text"]
            formatted += f"{'/' if is_in_denominator else ' ' * bool(formatted)}{prefix}{symbol}{power}"
            prefix, power, is_in_denominator = "", "", False
    return formatted.strip()


def _find_unit_symbol(macro: str, declared_units: Mapping[str, str]) -> str:
    """Return the symbol of a unit, or the name of its macro if it is unknown."""
    if symbol := _UNITS.get(macro) or declared_units.get(macro) or _ABBREVIATED_UNITS.get(macro):
        return symbol
    match = _SHORT_UNIT.fullmatch(macro)
    return f"{match['prefix'].replace('u', 'µ')}{match['unit']}" if match else macro
