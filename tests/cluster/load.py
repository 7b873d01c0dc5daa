"""Runs inside a pod of the release: asks until it is told to end (SIGTERM), then says how many answers there were.

QUELEA_URL and QUELEA_KEY as for `helm test`; QUELEA_CLIENTS ask at once. A caller like any other: it opens a new
connection for each question and tries none twice.
"""

import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

BODY = json.dumps({"question": "What was the total revenue of Marabou Grain Company?", "route": "local"}).encode()
LONGEST_SECONDS = 1800.0
ended = threading.Event()
answered = 0
failed: list[str] = []
lock = threading.Lock()


def ask() -> None:
    """One question after the other."""
    global answered  # noqa: PLW0603  # a program of one file
    while not ended.is_set():
        request = urllib.request.Request(os.environ["QUELEA_URL"] + "/v1/ask", data=BODY)  # noqa: S310  # the release's own
        request.add_header("Authorization", f"Bearer {os.environ['QUELEA_KEY']}")
        request.add_header("Content-Type", "application/json")
        problem = ""
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310  # the same
                answer.read()
        except urllib.error.HTTPError as error:
            problem = f"{error.code} {error.read(300).decode(errors='replace')}"
            error.close()
        except OSError as error:
            problem = repr(error)
        with lock:
            if problem:
                failed.append(f"{time.strftime('%H:%M:%S')} {problem}")
            else:
                answered += 1
        ended.wait(0.05)


signal.signal(signal.SIGTERM, lambda *_: ended.set())
clients = [threading.Thread(target=ask, daemon=True) for _ in range(int(os.environ.get("QUELEA_CLIENTS", "4")))]
for client in clients:
    client.start()
ended.wait(LONGEST_SECONDS)
for client in clients:
    client.join(60)
sys.stdout.write(json.dumps({"answered": answered, "failed": len(failed), "first": failed[:5]}) + "\n")
