"""A stack on a small disk that fills up and is freed again; run in a mount namespace of its own, with the folder.

    unshare -Urm python tests/support/full_disk.py FOLDER

It mounts a tmpfs on FOLDER that nobody else sees and that ends with the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.stack import Stack  # the tests' own packages are found once their folder is on the path

SIZE_MB, WATERMARK_MB = 900, 100
BACK_SECONDS = 120


def fill(path: Path, leave_bytes: int) -> None:
    """Take all space but so many bytes."""
    stat = os.statvfs(path.parent)
    size = stat.f_bavail * stat.f_frsize - leave_bytes
    with path.open("wb") as file:
        if size > 0:
            os.posix_fallocate(file.fileno(), 0, size)


def until_it_takes(stack: Stack, name: str) -> str:
    """Upload until the stack takes it; the job."""
    taken: list[str] = []

    def submit() -> bool:
        try:
            answer = stack.http.post("/v1/documents", files=[("files", (name, f"{name} is back.".encode()))])
        except httpx2.HTTPError:
            return False
        if answer.status_code == 202:
            taken.append(answer.json()["jobs"][0]["id"])
        return bool(taken)

    stack.wait_until(submit, BACK_SECONDS, "uploads are taken again")
    return taken[0]


def main(folder: Path) -> None:
    """Nearly full, full, free again; AssertionError when something is not as it must be."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(folder)], check=True)
    floor = {
        f"QUELEA_{service}_{name}": value
        for service in ("SEARCH", "RETRIEVER", "GATEWAY")
        for name, value in (("MIN_FREE_BYTES", str(WATERMARK_MB * 10**6)), ("MIN_FREE_SHARE", "0"))
    }
    stack = Stack(folder / "home", environment=floor)
    try:
        before = stack.ingest(("before.txt", b"The revenue of Before Corp was 12 million dollars in 2023."))[0]
        assert before["state"] == "succeeded", before
        print("up and stored", flush=True)

        fill(folder / "ballast", WATERMARK_MB * 10**6 // 2)
        stack.wait_until(
            lambda: stack.http.get("/readyz").json()["writing"]["ready"] is False, 30, "/readyz tells of the disk"
        )
        ready = stack.http.get("/readyz")
        assert ready.status_code == 200, ready.text
        refused = stack.http.post("/v1/documents", files=[("files", ("more.txt", b"More."))])
        assert refused.status_code == 507, refused.text
        assert "free" in refused.json()["error"]["message"]
        assert refused.headers["retry-after"]
        assert "Before Corp" in stack.page(before["document_id"], 1)["text"]
        print("nearly full: refused, reading goes on", flush=True)

        redis = stack.pids["redis"]
        fill(folder / "rest", 0)
        stack.wait_until(lambda: not Path(f"/proc/{redis}").exists(), 60, "Redis ends on the full disk")
        time.sleep(15)  # long enough for more deaths than the supervisor allows otherwise
        assert stack.process.poll() is None
        print("full: the supervisor goes on", flush=True)

        (folder / "rest").unlink()
        (folder / "ballast").unlink()
        freed = time.monotonic()
        after = stack.ended(until_it_takes(stack, "after.txt"), BACK_SECONDS)
        assert after["state"] == "succeeded", after
        assert len(stack.documents()) == 2
        assert "Before Corp" in stack.page(before["document_id"], 1)["text"]
        assert "is back" in stack.page(after["document_id"], 1)["text"]
        assert stack.job(before["id"])["state"] == "succeeded"
        stack.wait_until(
            lambda: {one["state"] for one in stack.record()["services"].values()} == {"ready"}, 60, "the record is true"
        )
        print(f"free: all is back after {time.monotonic() - freed:.0f} s", flush=True)
    except BaseException:
        for log in sorted((folder / "home/logs").glob("*.log")):
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}", flush=True)
        raise
    finally:
        stack.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
