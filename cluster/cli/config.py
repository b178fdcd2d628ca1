"""`assayer config`: show the settings in force, and where each value comes from."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer
from pydantic import SecretStr

from assayer.errors import InputError
from cluster.cli.options import WithJson, WithProfile
from cluster.cli.terminal import print_json, show_table
from cluster.operator_settings import AUDIENCES, build_variable_name, find_setting_field, list_section_paths
from cluster.settings import Profile, Settings
from cluster.settings_loading import SettingsSources, load_settings, open_sources

app = typer.Typer(help="Show the settings, and where each value comes from.", no_args_is_help=True)

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_MASK = "••••"


class _Row(NamedTuple):
    audience: str
    name: str
    value: Any
    origin: str


@app.callback()
def require_subcommand() -> None:
    """Keep the subcommand's name required although there is only one."""


@app.command("show")
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="Show only settings whose name contains this text, such as LLM or MAX_USD.", show_default=False
        ),
    ] = "",
    origin: Annotated[
        bool,
        typer.Option("--origin", help="Also show where each value comes from: default, profile, file or environment."),
    ] = False,
    profile: WithProfile = "laptop",
    as_json: WithJson = False,
) -> None:
    """Show every setting with its value, grouped by audience; secrets are masked."""
    rows = [row for row in _list_rows(profile) if name.upper() in row.name]
    if not rows:
        raise InputError(f"No setting's name contains {name!r}.", "`assayer config show` lists all settings.")
    if as_json:
        shown = [row._asdict() for row in rows]
        print_json(
            shown if origin else [{key: setting[key] for key in setting if key != "origin"} for setting in shown]
        )
        return
    for audience in dict.fromkeys(row.audience for row in rows):
        cells = [
            (row.name, _format_value(row.value), row.origin)[: 2 + origin] for row in rows if row.audience == audience
        ]
        show_table((audience, "Value", "From")[: 2 + origin], cells)


def _list_rows(profile: Profile) -> Iterator[_Row]:
    settings, sources = load_settings(profile), open_sources(profile)
    for audience, sections in AUDIENCES.items():
        for path in list_section_paths(sections):
            value = _read_value(settings, path)
            yield _Row(audience, build_variable_name(path), _mask_secrets(value), _find_origin(sources, path, value))


def _read_value(settings: Settings, path: tuple[str, ...]) -> Any:
    """Return a setting's value; None if its section is not configured."""
    value: Any = settings
    for part in path:
        value = getattr(value, part, None)
    return value


def _find_origin(sources: SettingsSources, path: tuple[str, ...], value: Any) -> str:
    origin = sources.find_origin(path)
    if origin is None and path[0] == "llm" and value is not None:
        default = find_setting_field(path)[1].get_default(call_default_factory=True)
        return "default" if value == default else "the model's provider"
    return origin or "default"


def _mask_secrets(value: Any) -> Any:
    """Return a value with its secrets masked, that is, keys and credentials in URLs."""
    if isinstance(value, SecretStr):
        return _MASK if value.get_secret_value() else ""
    if isinstance(value, dict):
        return {key: _mask_secrets(member) for key, member in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return [_mask_secrets(member) for member in value]
    if hasattr(value, "model_dump"):
        return {key: _mask_secrets(getattr(value, key)) for key in type(value).model_fields}
    return _CREDENTIALS.sub(_MASK, value) if isinstance(value, str) else value


def _format_value(value: Any) -> str:
    return "none" if value is None or value in ("", [], {}) else str(value)
