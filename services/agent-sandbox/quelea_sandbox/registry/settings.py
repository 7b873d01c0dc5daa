"""What the catalogue of tools can be told: environment variables QUELEA_SANDBOX_<FIELD>."""

from __future__ import annotations

from pathlib import Path

from quelea_kit.settings import ServiceSettings, settings_config


class ToolSettings(ServiceSettings):
    """Settings of the catalogue, beside those of the sandbox and under the same prefix."""

    model_config = settings_config("sandbox")

    tools_file: Path = Path(".cache/tools/catalogue.jsonl")
    """The catalogue, as `python -m quelea_sandbox.registry` wrote it. It is read when the service starts."""

    tool_health_file: Path | None = Path("data/sandbox/tool-health.json")
    """Where it is kept which tools work; empty keeps it in memory only."""

    max_tool_page: int = 500
    """Most tools of one ListTools answer."""
