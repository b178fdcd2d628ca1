"""Prompt files, loaded from their method's package and rendered with the question. External text is fenced."""

import hashlib
from collections.abc import Iterator

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.meta import find_referenced_templates
from pydantic import BaseModel

from assayer.models import Message

_SYSTEM = "system.md"


def fence(text: str, kind: str) -> str:
    """Fence external text so that it cannot pass for instructions. The closing mark contains a 64-bit hash of the text,
    so the text cannot close its own fence."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"<{kind} {mark}>\n{text.strip()}\n</{kind} {mark}>"


class Prompts:
    """One method's prompt files: `prompts/NAME.vN.md`, and `system.md`, which all of them share."""

    def __init__(self, package: str) -> None:
        self._loader = PackageLoader(package, "prompts")
        # Prompts are plain text, not HTML: escaping would change what the model reads.
        self._environment = Environment(  # noqa: S701
            loader=self._loader,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters["fence"] = fence
        self._digests: dict[str, str] = {}

    def digest(self, file: str) -> str:
        """Return a digest of every text that shapes the prompt: the file itself, everything it includes directly or
        indirectly, and the system message. By contrast, a prompt's version changes only with the file itself. Raises
        ValueError if the name of an included file is computed."""
        if file not in self._digests:
            sources: dict[str, str] = {}
            left = [file, _SYSTEM]
            while left:
                name = left.pop()
                if name not in sources:
                    sources[name] = self._loader.get_source(self._environment, name)[0]
                    left += self._find_referenced(name, sources[name])
            content = "".join(f"{name}\n{len(text)}\n{text}" for name, text in sorted(sources.items()))
            self._digests[file] = hashlib.sha256(content.encode()).hexdigest()[:16]
        return self._digests[file]

    def _find_referenced(self, name: str, text: str) -> Iterator[str]:
        for item in find_referenced_templates(self._environment.parse(text)):
            if item is None:
                raise ValueError(f"Prompt file {name} includes a file whose name is computed; write it as a literal.")
            yield item

    def render(self, file: str, data: BaseModel) -> tuple[Message, ...]:
        system = self._environment.get_template(_SYSTEM).render()
        fields = {name: getattr(data, name) for name in type(data).model_fields}
        return (
            Message(role="system", content=system.strip()),
            Message(role="user", content=self._environment.get_template(file).render(fields).strip()),
        )
