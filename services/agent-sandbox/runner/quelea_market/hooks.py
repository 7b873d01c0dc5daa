"""Which library is patched when: at once if it is loaded, else as soon as the code imports it."""

from __future__ import annotations

import sys

# Every interpreter of the image pays for what is imported here; importlib.abc alone would cost it a third of its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

# Module → (module of ours, function in it) that patches it. Ours are loaded when theirs is.
PATCHES = {
    "http.client": ("quelea_market.standard", "patch_http_client"),
    "urllib.request": ("quelea_market.standard", "patch_urllib"),
    "socket": ("quelea_market.standard", "patch_socket"),
    "urllib3.connection": ("quelea_market.third_party", "patch_urllib3"),
    "requests.adapters": ("quelea_market.third_party", "patch_requests"),
    "httpx._transports.default": ("quelea_market.third_party", "patch_httpx"),
    "curl_cffi.requests.session": ("quelea_market.curl", "patch_curl"),
}


def _apply(module: ModuleType) -> None:
    ours, name = PATCHES[module.__name__]
    __import__(ours)
    patch: Callable[[ModuleType], None] = getattr(sys.modules[ours], name)
    patch(module)


class _Loader:
    """Another's loader, and our patch after it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the other one does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """As the other one does; then patch."""
        self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        _apply(module)

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


class _Finder:
    """Sees an import first, and leaves it to the others unless it is one of ours."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The others' finding with our loader around theirs."""
        if fullname not in PATCHES:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


def install() -> None:
    """Patch what is loaded, and whatever is loaded later. A second call does nothing."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    for name in PATCHES:
        if name in sys.modules:
            _apply(sys.modules[name])
    sys.meta_path.insert(0, _Finder())
