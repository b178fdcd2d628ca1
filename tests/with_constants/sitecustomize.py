"""Accept variables of constants in every Python process that has this folder on its path, such as Ray's workers."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_MODULE = "cluster.settings_loading"


class _AcceptConstants(MetaPathFinder):
    """Finder that changes the module which checks variables, once it has been loaded."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_accept(module: ModuleType) -> None:
            load(module)
            from tests.constants import accept_constants

            accept_constants()

        spec.loader.exec_module = load_and_accept  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _AcceptConstants())
