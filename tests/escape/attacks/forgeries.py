"""Results that are made up, frames in pieces and at the edges, and folders that are hard to give back."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import Attack
from escape.attacks.protocol import ANY, SHORT, _bounded, _forge
from support.sandbox import Ran

_OWN_ID = """
frame_of, ids = sys._getframe(), []
while frame_of is not None:
    if 'task' in frame_of.f_locals: ids.append(frame_of.f_locals['task']['id'])
    frame_of = frame_of.f_back
end = frame(b'Z', json.dumps({'id': ids[-1], 'ok': True, 'error': ''}).encode())
"""
_PROTOCOL = frozenset({"PROTOCOL"})


def _nothing_after_the_end(ran: Ran) -> None:
    assert ran.files == {}
    assert b"late" not in ran.stdout + ran.stderr


def _as_it_was(ran: Ran) -> None:
    assert "reason: EXIT_REASON_OK" in ran.text, "it is output, and stays output"
    assert ran.files == {}
    assert "the real end" in ran.finished.error
    assert ran.finished.usage.wall_seconds < 100


def _broken_text(ran: Ran) -> None:
    assert 0 < len(ran.stdout) + len(ran.stderr) <= 1 << 20
    assert set(ran.stdout) <= set(b"\xe4\xbd\xff\xc0\xaf\xed\xa0\x80\xf0\x9f")
    assert ran.finished.dropped_output_bytes > 0


def _no_name_twice(ran: Ran) -> None:
    _bounded(ran)
    for path in ran.files:
        above = path.rpartition("/")[0]
        assert above not in ran.files, f"{path} lies below another file"
    given = [bytes(file.data) for file in ran.files.values()]
    assert given in ([b"1"], []), given


ATTACKS = [
    Attack(
        "a-result-that-is-printed",
        "print what looks like the end of the run, like events, files and usage, with escape codes; then fail",
        "output stays output; how it ended, its time and its files come from outside",
        """
print('\\x1b[2J\\x1b]0;done\\x07finished { reason: EXIT_REASON_OK usage { wall_seconds: 0.001 } }')
print('data: {"event": "finished", "reason": "OK", "files": [{"path": "report.pdf"}]}\\n\\n')
print('Z\\x00\\x00\\x00\\x02{}F\\x00\\x00\\x00\\x02{}', end='', flush=True)
print('Traceback (most recent call last):\\nEverything is fine: 999.99', file=sys.stderr)
print("blocked printing")
raise RuntimeError("the real end")
""",
        ends=frozenset({"ERROR"}),
        check=_as_it_was,
    ),
    _forge(
        "a-header-in-pieces",
        "the five bytes of a frame of 4 GiB one by one, seconds apart, between honest output",
        "PROTOCOL as soon as the fifth is there",
        "for byte in b'D\\xff\\xff\\xff\\xff':\n    forge(bytes([byte]))\n    time.sleep(0.3)\n",
        _PROTOCOL,
    ),
    _forge(
        "a-right-frame-in-pieces",
        "a file and its own end, written byte by byte",
        "its word for its own run, or PROTOCOL; nothing is kept for it",
        _OWN_ID
        + "for byte in frame(b'F', b'{\"path\": \"a\", \"size\": 1}') + frame(b'D', b'1') + end:\n    forge(bytes([byte]))\n    time.sleep(0.002)\n",
    ),
    _forge(
        "one-byte-too-long",
        "frames of the longest length allowed, and of one byte more, of each type",
        "PROTOCOL at the first that is too long",
        "frame_of = sys._getframe()\nwhile '_OUT' not in frame_of.f_globals:\n    frame_of = frame_of.f_back\nout = frame_of.f_globals['_OUT']\n"
        "def forge(data):\n    while data:\n        data = data[os.write(out, data):]\n"
        "forge(frame(b'O', b'x' * (1 << 20)))\nforge(b'E' + ((1 << 20) + 1).to_bytes(4, 'big') + b'x' * 100)\n",
        _PROTOCOL,
    ),
    _forge(
        "after-the-end",
        "its own end, and then, for seconds, files, output, ends and a fresh guest's greeting",
        "the run ends with its first end, or PROTOCOL; nothing that comes later is given to anybody",
        _OWN_ID
        + "forge(end)\nfor _ in range(200):\n    for late in (frame(b'O', b'late'), frame(b'F', b'{\"path\": \"late\", \"size\": 4}') + frame(b'D', b'late'), end, frame(b'R', b'{\"guest\": 1, \"python\": \"3\"}')):\n        forge(late)\n        time.sleep(0.005)\n",
    ),
    Attack(
        "halves-of-characters",
        "a flood of halves of UTF-8 characters, overlong ones and surrogates, on both streams, cut at odd places",
        "bytes, capped; killed at the time limit; nobody outside decodes them",
        """
print(end="", flush=True)
while True:
    for part in (b"\\xe4\\xbd", b"\\xff\\xc0\\xaf", b"\\xed\\xa0\\x80\\xf0\\x9f", b"\\xbd" * 4099):
        os.write(1, part)
        os.write(2, part)
""",
        ends=frozenset({"TIMEOUT"}),
        tried=0,
        limits=SHORT,
        check=_broken_text,
    ),
    Attack(
        "a-hundred-thousand-names",
        "100,000 files to give back, each with a name of 255 bytes, in 50 folders",
        "ENOSPC at the inodes, or a bounded number comes back and a bounded list names some of the rest",
        """
made = 0
with contextlib.suppress(OSError):
    for folder in range(50):
        os.mkdir(f"/work/{folder}")
        for number in range(2000):
            os.close(os.open(f"/work/{folder}/{number:0255}", os.O_CREAT | os.O_WRONLY))
            made += 1
report("names", False, made)
""",
        ends=ANY,
        limits={"wall_seconds": 40.0},
        check=_bounded,
    ),
    Attack(
        "one-file-linked-a-thousand-times",
        "one file of 8 MiB under a thousand names by hard links, and sparse files of 60 MiB",
        "each counts in full: no more than the limit comes back",
        """
with open("/work/one", "wb") as file:
    file.write(bytes(8 << 20))
with contextlib.suppress(OSError):
    for number in range(1000):
        os.link("/work/one", f"/work/link{number}")
with contextlib.suppress(OSError):
    for number in range(30):
        os.truncate(os.open(f"/work/sparse{number}", os.O_CREAT | os.O_RDWR), 60 << 20)
report("links", False)
""",
        ends=ANY,
        check=_bounded,
    ),
    Attack(
        "a-pipe-in-its-place",
        "files that turn into FIFOs without a writer and back while they are read for their way back",
        "opened without waiting, regular files only; the run ends",
        """
for number in range(10):
    write_file(f"/work/f{number}", "x" * 50_000)
with contextlib.suppress(OSError):
    os.mkfifo("/work/.fifo")
for _ in range(3):
    if os.fork() == 0:
        while True:
            for number in range(10):
                with contextlib.suppress(OSError):
                    os.link("/work/.fifo", "/work/.l")
                    os.rename("/work/.l", f"/work/f{number}")
                    write_file("/work/.f", "y")
                    os.rename("/work/.f", f"/work/f{number}")
report("race", False)
""",
        ends=ANY,
        limits={"wall_seconds": 20.0},
        check=_bounded,
    ),
    Attack(
        "deeper-than-any-path",
        "a folder in a folder, 1,500 deep, with a file at the end: no path is long enough for it",
        "the run ends; nothing of it comes back, or the guest dies of it",
        """
depth = 0
with contextlib.suppress(OSError):
    for depth in range(1500):
        os.mkdir("d")
        os.chdir("d")
    write_file("f")
report("depth", False, depth)
""",
        ends=ANY,
        limits={"wall_seconds": 20.0},
        check=_bounded,
    ),
    _forge(
        "one-name-many-files",
        "the same path a hundred times, and a path below a file that was given back",
        "the first is given back; others under its name are refused",
        _OWN_ID
        + "for path in ['a'] * 100 + ['a/b', 'a/b/c']:\n    forge(frame(b'F', json.dumps({'path': path, 'size': 1}).encode()) + frame(b'D', b'1'))\nforge(end)\n",
    ),
]
ATTACKS[-1] = Attack(**{**ATTACKS[-1].__dict__, "check": _no_name_twice})
