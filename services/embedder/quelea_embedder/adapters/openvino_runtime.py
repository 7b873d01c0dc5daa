"""OpenVINO, without its telemetry: every import of it goes through here."""

from __future__ import annotations

import sys

# openvino requires this package and loads it when it is imported itself; it then writes an id for Google Analytics into
# the home folder. Where it cannot be imported, openvino has a stub that does nothing.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: "there is no such module"

import openvino  # noqa: E402

GRAPH = "openvino/openvino_model.xml"
"""Where a model's folder has its graph, with the weights beside it; optimum writes it there, too."""

__all__ = ["GRAPH", "openvino"]
