"""Stands for the upstreams in unit tests: answers that a test lays down, and what was asked."""

from __future__ import annotations

import time
from collections.abc import Mapping

from quelea_search.core.web.urls import WebUrl
from quelea_search.door.core.cookies import CookieJar
from quelea_search.door.core.hosts import HostRule, HostTable
from quelea_search.door.core.model import Answer, Question, Refused


class FakeUpstream:
    """Answers by address.

    Args:
        hosts: The allow-list.
        answers: Address -> body, or what to raise.
    """

    def __init__(self, hosts: HostTable, answers: Mapping[str, bytes | Refused] | None = None) -> None:
        self._hosts = hosts
        self.answers = dict(answers or {})
        self.asked: list[Question] = []
        self.validators: list[dict[str, str]] = []
        self.etag = ""

    def check(self, url: WebUrl) -> HostRule:
        """The rule of an address. Raises Refused (403)."""
        rule = self._hosts.find(url)
        if rule is None:
            raise Refused(403, "HOST", f"{url.host} is not allowed")
        return rule

    async def ask(self, question: Question, jar: CookieJar, validators: Mapping[str, str]) -> Answer:
        """What the test laid down; 404 for everything else."""
        self.asked.append(question)
        self.validators.append(dict(validators))
        found = self.answers.get(str(question.url))
        if isinstance(found, Refused):
            raise found
        headers = {"content-type": "application/json", "date": time.strftime("%a, %d %b %Y %H:%M:%S GMT")}
        if self.etag:
            headers["etag"] = self.etag
            if validators.get("if-none-match") == self.etag:
                return Answer(304, headers, b"", str(question.url), unchanged=True)
        status = 200 if found is not None else 404
        return Answer(status, headers, found or b"", str(question.url))
