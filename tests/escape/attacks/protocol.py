"""What comes out of a container, written by an enemy: files, links, frames."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from support.sandbox import Ran

ANY = KILLED | {"OK"}
SHORT = {"wall_seconds": 3.0}


def _no_files(ran: Ran) -> None:
    assert ran.files == {}


def _only(*names: str) -> object:
    def check(ran: Ran) -> None:
        assert set(ran.files) == set(names)

    return check


def _safe_paths(ran: Ran) -> None:
    for path in ran.files:
        parts = path.split("/")
        assert path == path.strip()
        assert not path.startswith("/")
        assert not {"", ".", ".."} & set(parts), path
        assert "\\" not in path
        assert path.isprintable()


def _bounded(ran: Ran) -> None:
    _safe_paths(ran)
    assert sum(len(file.data) for file in ran.files.values()) <= 16 << 20
    assert len(ran.files) <= 64
    assert len(ran.finished.error.encode()) <= 16 << 10
    assert sum(map(len, ran.finished.refused_files)) <= 1 << 20


def _not_a_picture(ran: Ran) -> None:
    assert set(ran.files) == {"plot.png"}
    assert not ran.files["plot.png"].media_type.startswith(("image/", "text/html", "application/javascript"))


def _forge(name: str, tries: str, holds: str, frames: str, ends: frozenset[str] = ANY) -> Attack:
    """Bytes in the place of the guest's own, and then nothing more."""
    return Attack(name, tries, holds, f"import json\n{frames}\ntime.sleep(30)\n", ends, 0, _bounded, SHORT)


ATTACKS = [
    Attack(
        "links-out",
        "give back symbolic links to files and folders of the host",
        "links are not followed, and not given back",
        """
os.symlink("/etc/passwd", "/work/passwd")
os.symlink("/", "/work/root")
os.symlink("../../../etc/shadow", "/work/shadow")
os.symlink("/proc/self/environ", "/work/environ")
write_file("/work/real.txt")
report("links", False)
""",
        check=_only("real.txt"),  # type: ignore[arg-type] # a check
    ),
    Attack(
        "hard-links-out",
        "give back hard links to files of the image",
        "another device: refused",
        "for path in ('/etc/passwd', '/opt/quelea/guest.py'):\n    attempt(path, lambda: os.link(path, '/work/' + os.path.basename(path)))\n",
        tried=2,
        check=_no_files,
    ),
    Attack(
        "odd-files",
        "give back a FIFO, which would block whoever reads it, and a folder without end",
        "regular files only; the run ends",
        """
attempt("socket file", lambda: __import__("socket").socket(1).bind("/work/sock"))
with contextlib.suppress(OSError):
    os.mkfifo("/work/fifo")
path = "/work/d"
try:
    for _ in range(200):
        os.mkdir(path)
        path += "/d"
except OSError as error:
    report("depth", False, error)
""",
        check=_no_files,
    ),
    Attack(
        "names-of-files",
        "file names with control characters, backslashes, quotes, and other scripts' direction marks",
        "given back only under names that no reader can misread",
        """
for name in ("a\\nb", "a\\\\..\\\\b", "\\x1b[2J", "..\\\\..\\\\x", "a\\u202etxt", "CON\\t", " ", "~", "-rf"):
    with contextlib.suppress(OSError):
        write_file(f"/work/{name}")
with contextlib.suppress(OSError):
    open(b"/work/\\xff\\xfe", "w").close()
report("names", False)
""",
        check=_bounded,
        ends=ANY,
    ),
    Attack(
        "html-called-png",
        "a page with a script, called plot.png",
        "the media type is read from the bytes",
        "write_file('/work/plot.png', '<html><script>alert(1)</script></html>')\nreport('file', False)\n",
        check=_not_a_picture,
    ),
    Attack(
        "swap-while-read",
        "replace a file by a link while it is being given back",
        "opened without following links; only bytes from inside come back",
        """
write_file("/work/file.txt", "x" * (8 << 20))
if os.fork() == 0:
    while True:
        with contextlib.suppress(OSError):
            os.symlink("/etc/passwd", "/work/.l")
            os.rename("/work/.l", "/work/file.txt")
            write_file("/work/.f", "y")
            os.rename("/work/.f", "/work/file.txt")
report("race", False)
""",
        check=_bounded,
        ends=ANY,
    ),
    _forge(
        "forged-file-paths",
        "forged file frames: `..`, absolute, drive letters, NUL, 100,000 characters",
        "refused or PROTOCOL; nothing is written anywhere",
        """
for path in ("../../../tmp/quelea-escaped", "/tmp/quelea-escaped", "a/../../b", "C:\\\\x", "a\\0b", "x" * 100_000, "", ".", "a//b", "a/./b"):
    forge(frame(b"F", json.dumps({"path": path, "size": 1}).encode()) + frame(b"D", b"x"))
""",
    ),
    _forge(
        "forged-file-sizes",
        "files announced with 10 GB, negative, fractional, infinite sizes",
        "PROTOCOL or refused; no memory is set aside for it",
        "for size in ('10000000000', '-1', '1.5', '1e999', '\"9\"', 'true', '9' * 5000):\n"
        "    forge(frame(b'F', b'{\"path\": \"a\", \"size\": ' + size.encode() + b'}'))\n",
    ),
    _forge(
        "more-bytes-than-announced",
        "a file of one byte, and a megabyte of data after it",
        "PROTOCOL",
        "forge(frame(b'F', b'{\"path\": \"a\", \"size\": 1}') + frame(b'D', b'x' * 100_000) * 10)\n",
        frozenset({"PROTOCOL"}),
    ),
    _forge(
        "endless-files",
        "100,000 forged files of no bytes",
        "a bounded number is kept; then PROTOCOL or the time limit",
        "for n in range(100_000):\n    forge(frame(b'F', json.dumps({'path': str(n), 'size': 0}).encode()))\n",
    ),
    _forge(
        "huge-frame",
        "a frame that says it is 4 GiB long",
        "PROTOCOL before any of it is read",
        "forge(b'O\\xff\\xff\\xff\\xff' + b'x' * 1000)\n",
        frozenset({"PROTOCOL"}),
    ),
    _forge(
        "unfinished-frame",
        "a frame of 1 MiB of which ten bytes come",
        "killed at the time limit",
        "forge(b'O' + (1 << 20).to_bytes(4, 'big') + b'x' * 10)\n",
        frozenset({"TIMEOUT"}),
    ),
    _forge(
        "unknown-frames",
        "frames of unknown type, and frames that only the keeper sends",
        "PROTOCOL",
        "for kind in (b'X', b'Q', b'\\x00', b'\\xff'):\n    forge(frame(kind, b'{}'))\n",
        frozenset({"PROTOCOL"}),
    ),
    _forge(
        "ready-again",
        "the frame that says a fresh guest is ready, a second time",
        "PROTOCOL; it never becomes a fresh one",
        'forge(frame(b\'R\', b\'{"guest": 1, "python": "3.11"}\'))\n',
        frozenset({"PROTOCOL"}),
    ),
    _forge(
        "json-bombs",
        "JSON nested 100,000 deep, numbers of a million digits, invalid UTF-8, a list for an object",
        "PROTOCOL; the service neither hangs nor dies",
        "forge(frame(b'Z', b'[' * 100_000))\n"
        "forge(frame(b'Z', b'{\"id\": ' + b'9' * 1_000_000 + b'}'))\n"
        "forge(frame(b'Z', b'\\xff\\xfe{'))\nforge(frame(b'Z', b'[]'))\n",
        frozenset({"PROTOCOL"}),
    ),
    _forge(
        "forged-result-of-another",
        "a finished frame with the identifier of another run",
        "PROTOCOL",
        "forge(frame(b'Z', json.dumps({'id': 'another', 'ok': True, 'error': ''}).encode()))\n",
        frozenset({"PROTOCOL"}),
    ),
    _forge(
        "huge-error",
        "a finished frame with an error of almost a megabyte",
        "cut to 16 KiB, or PROTOCOL",
        "import gc\n"
        "ids = [one['id'] for one in gc.get_objects() if isinstance(one, dict) and 'files_bytes' in one and 'id' in one]\n"
        "frame_of = sys._getframe()\n"
        "while frame_of is not None:\n"
        "    if 'task' in frame_of.f_locals: ids.append(frame_of.f_locals['task']['id'])\n"
        "    frame_of = frame_of.f_back\n"
        "forge(frame(b'Z', json.dumps({'id': ids[-1], 'ok': False, 'error': 'e' * 900_000}).encode()))\n",
    ),
    _forge(
        "result-and-then-more",
        "its own forged result, and then more output under it",
        "the run ends with the first result, or PROTOCOL; nothing of the rest comes back",
        "frame_of, ids = sys._getframe(), []\n"
        "while frame_of is not None:\n"
        "    if 'task' in frame_of.f_locals: ids.append(frame_of.f_locals['task']['id'])\n"
        "    frame_of = frame_of.f_back\n"
        "forge(frame(b'Z', json.dumps({'id': ids[-1], 'ok': True, 'error': ''}).encode()) + frame(b'O', b'after the end') * 100)\n",
    ),
    Attack(
        "pickles",
        "files and frames that run code when somebody unpickles them",
        "bytes for the caller; nobody outside unpickles anything",
        """
import pickle
class Evil:
    def __reduce__(self):
        return (os.system, ("touch /tmp/quelea-escaped",))
for name in ("data.pkl", "frame.parquet", "array.npy"):
    with open(f"/work/{name}", "wb") as file:
        file.write(pickle.dumps(Evil()))
report("pickles", False)
""",
    ),
    Attack(
        "pickle-as-result",
        "a pickle in place of the result's JSON",
        "PROTOCOL",
        "import pickle\nclass Evil:\n    def __reduce__(self):\n        return (os.system, ('touch /tmp/quelea-escaped',))\n"
        "forge(frame(b'Z', pickle.dumps(Evil())))\ntime.sleep(30)\n",
        frozenset({"PROTOCOL"}),
        0,
        limits=SHORT,
    ),
    Attack(
        "close-everything",
        "close every descriptor, the protocol's too, and go on",
        "the run ends without a result",
        "for fd in range(0, 256):\n    with contextlib.suppress(OSError):\n        os.close(fd)\nwhile True:\n    time.sleep(1)\n",
        KILLED,
        0,
        limits=SHORT,
    ),
    Attack(
        "feed-itself",
        "take the keeper's next frames from the guest's standard input",
        "one container, one run: there is no next",
        """
import stat
for name in os.listdir("/proc/self/fd"):
    with contextlib.suppress(OSError):
        if int(name) > 2 and stat.S_ISFIFO(os.fstat(int(name)).st_mode):
            os.set_blocking(int(name), False)
            report(f"descriptor {name}", bool(os.read(int(name), 10)))
report("read", False)
""",
        ends=ANY,
        limits=SHORT,
    ),
]
