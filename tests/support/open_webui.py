"""A real Open WebUI beside the product, set up as docs/howto/chat-front-ends.md says. `make open-webui` installs it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import httpx2
from quelea_kit.testing import free_port
from support.stack import REPOSITORY

PROGRAM = Path(os.environ.get("QUELEA_OPEN_WEBUI") or REPOSITORY / ".open-webui/bin/open-webui")
"""QUELEA_OPEN_WEBUI names another, to try another version."""
START_SECONDS = 300
TURN_SECONDS = 120


class OpenWebUI:
    """One server on loopback, with data of its own and nobody to sign in."""

    def __init__(self, home: Path, quelea: str) -> None:
        """Start it, and wait until it answers; `quelea` is the gateway's address."""
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.http = httpx2.Client(base_url=self.url, timeout=60, trust_env=False)
        self._log = home / "open-webui.log"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DATA_DIR": str(home),
            "WEBUI_SECRET_KEY": uuid.uuid4().hex,
            "WEBUI_AUTH": "False",
            "OPENAI_API_BASE_URL": f"{quelea}/v1",
            "OPENAI_API_KEY": "any",
            "ENABLE_FORWARD_USER_INFO_HEADERS": "true",
            # Nothing is fetched and nothing is reported.
            "OFFLINE_MODE": "true",
            "HF_HUB_OFFLINE": "1",
            "ENABLE_OLLAMA_API": "false",
            "RAG_EMBEDDING_ENGINE": "openai",
            "ANONYMIZED_TELEMETRY": "false",
            "DO_NOT_TRACK": "true",
            "SCARF_NO_ANALYTICS": "true",
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "serve", "--host", "127.0.0.1", "--port", str(port)],
                cwd=home,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._until_ready()
        except BaseException:
            self.stop()
            raise

    def _until_ready(self) -> None:
        end = time.monotonic() + START_SECONDS
        while not self._healthy():
            said = self._log.read_text(errors="replace")[-3000:]
            assert self._process.poll() is None, f"Open WebUI ended with {self._process.returncode}:\n{said}"
            assert time.monotonic() < end, f"Open WebUI is not ready within {START_SECONDS} s:\n{said}"
            time.sleep(0.5)
        # Where nobody signs in, its page signs in as the only user.
        asked = {"email": "admin@localhost", "password": "admin"}
        token = self.http.post("/api/v1/auths/signin", json=asked).raise_for_status().json()["token"]
        self.http.headers["Authorization"] = f"Bearer {token}"

    def _healthy(self) -> bool:
        try:
            return self.http.get("/health", timeout=5).status_code == 200
        except httpx2.HTTPError:
            return False

    def stop(self) -> None:
        """End it, and wait."""
        self.http.close()
        try:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait(30)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def models(self) -> list[str]:
        """The models that a user may choose."""
        return [one["id"] for one in self.http.get("/api/models").raise_for_status().json()["data"]]

    def ask(self, question: str) -> dict[str, Any]:
        """Ask in a new chat as the page does, with title, tags and follow-ups; the stored chat when it has all."""
        sent, answered = str(uuid.uuid4()), str(uuid.uuid4())
        message = {"id": sent, "parentId": None, "childrenIds": [], "role": "user", "content": question}
        body = {
            "stream": True,
            "model": "quelea",
            "messages": [{"role": "user", "content": question}],
            "session_id": str(uuid.uuid4()),
            "parent_id": None,
            "id": answered,
            "user_message": {**message, "models": ["quelea"], "timestamp": int(time.time())},
            "background_tasks": {"title_generation": True, "tags_generation": True, "follow_up_generation": True},
        }
        begun = self.http.post("/api/chat/completions", json=body)
        assert begun.status_code == 200, begun.text
        end = time.monotonic() + TURN_SECONDS
        while True:
            chat = self.http.get(f"/api/v1/chats/{begun.json()['chat_id']}").raise_for_status().json()
            answer = chat["chat"]["history"]["messages"][answered]
            told = {"title": chat["title"], "tags": chat["meta"].get("tags"), **answer}
            assert "error" not in answer, answer["error"]
            if answer.get("done") and told["title"] != "New Chat" and told["tags"] and "followUps" in answer:
                return told
            assert time.monotonic() < end, f"not within {TURN_SECONDS} s: {told}"
            time.sleep(0.3)
