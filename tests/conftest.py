"""What holds for every test, and the S3 that tests of several rooms share."""

import faulthandler
import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import settings

if TYPE_CHECKING:
    from support.s3 import Bucket

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("quelea", deadline=None)
settings.load_profile("quelea")

# Where no service has set up logs, a traceback with every local drawn in boxes takes seconds.
_PLAIN = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _PLAIN])


# What a script starts in the background ignores Ctrl-C, and so would the processes that tests end by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each test's report carries the reason of its `slow` marker."""
    for item in items:
        if mark := item.get_closest_marker("slow"):
            item.user_properties.append(("slow", mark.kwargs["reason"]))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Where QUELEA_TEST_TIMES names a file, a line for each test that took seconds: .ci/stages.py tells of the slow."""
    times = os.environ.get("QUELEA_TEST_TIMES")
    if times and report.when == "call" and report.duration > 5 and "PYTEST_XDIST_TESTRUNUID" not in os.environ:
        line = {"test": report.nodeid, "seconds": report.duration, "reason": dict(report.user_properties).get("slow")}
        with Path(times).open("a") as file:
            file.write(json.dumps(line) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """A process that does not end by itself says where it hangs, and fails."""
    gc.freeze()  # the last look for garbage takes a second
    faulthandler.dump_traceback_later(180, exit=True, file=sys.__stderr__)


@pytest.fixture(scope="session", autouse=True)
def _patient_checks() -> Iterator[None]:
    """An answer that is given unchecked after ten seconds is right for its asker and wrong on a slow machine's test."""
    with pytest.MonkeyPatch.context() as patch:
        # Collected by now, where a test wants it.
        if answer_review := sys.modules.get("quelea_gateway.core.review.answer_review"):
            patch.setattr(answer_review, "CHECK_SECONDS", 120.0)
        yield


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """One server for all tests that ask for a bucket."""
    from support.s3 import s3_server

    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> "Bucket":
    """An empty bucket, and its endpoint and credentials in the environment."""
    from support.s3 import new_bucket

    made = new_bucket(s3_endpoint)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made
