"""What memory `quelea eval omni generate` takes: a knowledge base and a model of scripts, sections by the thousand.

    python tests/load/generate_memory.py 1000 10000

For each number a process of its own, sections of 2,048 characters spread over the 16 topics, a question about each.
Prints a JSON object a line: sections, questions, highest memory in MB, seconds, and what its files take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.asked_server import Asked, asked_server, chat_reply

PAGES = 100
FILLER = "The figures of this page are unaudited and are stated in millions unless it says otherwise. " * 30


def knowledge(sections: int) -> Any:
    """A gateway with documents of a hundred pages."""
    names = [f"d{at:05}" for at in range(sections // PAGES)]

    def decide(path: str, _: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path.startswith("/v1/documents?"):
            listed = [{"id": name, "title": f"Report {name}", "pages": PAGES} for name in names]
            return 200, {"documents": listed, "next_page_token": None, "total": len(listed)}
        _, _, _, name, _, number = path.split("/")
        return 200, {"text": f"{name} page {number}: sales were {number}7 million.\n{FILLER}", "page": int(number)}

    return decide


def model(_: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Sorts sections by the number of their page, quotes their first line, and finds each question useful."""
    fields = set(body["response_format"]["json_schema"]["schema"]["properties"])
    line = body["messages"][1]["content"].split("\n\n[1]")[-1].split("[1]")[-1].splitlines()[1]
    if fields == {"topic"}:
        return chat_reply(json.dumps({"topic": int(line.split()[2].rstrip(":")) % 16 + 1}))
    if fields == {"inspection"}:
        return chat_reply('{"inspection": {"evaluation": 2, "corrected": null}}')
    item = {"question": f"What of {line}?", "answers": ["7"], "passages": [{"section": 1, "text": line}]}
    return chat_reply(json.dumps({"items": [item]}))


def measure(sections: int, folder: Path) -> dict[str, Any]:
    """One run of the command."""
    servers: list[Asked] = []

    def forgetting(decide: Any) -> Any:
        def told(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            for server in servers:
                server.requests.clear()
            return tuple(decide(path, body))  # type: ignore[return-value]

        return told

    with asked_server(forgetting(knowledge(sections))) as gateway, asked_server(forgetting(model)) as writer:
        servers += [gateway, writer]
        command = [sys.executable, "-m", "quelea_evaluation", "omni", "generate", "--model", "m", "--out", str(folder)]
        command += ["--model-url", f"{writer.url}/v1", "--gateway", gateway.url, "--sections", str(PAGES), "--json"]
        command += ["--per-cell", "1000", "--task", "extractive", "--concurrency", "16"]
        begun = time.monotonic()
        with (folder.parent / "told").open("w") as told:
            process = subprocess.Popen(command, stdout=told, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        summary = json.loads((folder.parent / "told").read_text())
    return {
        "sections": summary["sections"],
        "questions": summary["questions"],
        "calls": summary["calls"],
        "highest_mb": round(usage.ru_maxrss / 1024, 1),
        "seconds": round(time.monotonic() - begun, 1),
        "files_mb": {one.name: round(one.stat().st_size / 1e6, 1) for one in sorted(folder.glob("*.*"))},
    }


def main() -> None:
    """Each number of sections of the command line."""
    for number in map(int, sys.argv[1:] or ["1000", "10000"]):
        with tempfile.TemporaryDirectory() as place:
            print(json.dumps(measure(number, Path(place) / "questions")), flush=True)


if __name__ == "__main__":
    main()
