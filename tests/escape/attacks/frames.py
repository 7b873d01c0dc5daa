"""More of what comes out: frames that are almost right, and files that change, hide or explode."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from escape.attacks.protocol import ANY, SHORT, _bounded, _forge
from support.sandbox import Ran

_OWN_ID = """
frame_of, ids = sys._getframe(), []
while frame_of is not None:
    if 'task' in frame_of.f_locals: ids.append(frame_of.f_locals['task']['id'])
    frame_of = frame_of.f_back
"""
_PROTOCOL = frozenset({"PROTOCOL"})


def _as_bytes(ran: Ran) -> None:
    _bounded(ran)
    for file in ran.files.values():
        assert "html" not in file.media_type
        assert "svg" not in file.media_type
        assert "xml" not in file.media_type


def _small(ran: Ran) -> None:
    _bounded(ran)
    assert sum(len(file.data) for file in ran.files.values()) < 4 << 20, "nobody outside unpacks anything"


ATTACKS = [
    _forge(
        "frames-out-of-order",
        "data without a file, a file within a file, output within a file, an end within a file",
        "PROTOCOL",
        'header = frame(b\'F\', b\'{"path": "a", "size": 5}\')\n'
        "forge(frame(b'D', b'x'))\nforge(header + header)\nforge(header + frame(b'O', b'x'))\n",
        _PROTOCOL,
    ),
    _forge(
        "end-within-a-file",
        "the end of the run while bytes of a file are still to come, with the right identifier",
        "PROTOCOL: no half file comes back",
        _OWN_ID + "forge(frame(b'F', b'{\"path\": \"half.csv\", \"size\": 50}') + frame(b'D', b'x' * 10))\n"
        "forge(frame(b'Z', json.dumps({'id': ids[-1], 'ok': True, 'error': ''}).encode()))\n",
        _PROTOCOL,
    ),
    _forge(
        "numbers-that-are-none",
        "sizes NaN, Infinity, true, 1e400, 0x10, and a path that is a number",
        "PROTOCOL",
        'for text in (b\'{"path": "a", "size": NaN}\', b\'{"path": "a", "size": Infinity}\', b\'{"path": "a", "size": true}\', b\'{"path": 7, "size": 0}\', b\'{"path": null, "size": 0}\'):\n    forge(frame(b\'F\', text))\n',
        _PROTOCOL,
    ),
    _forge(
        "keys-twice",
        "the same key twice, unknown keys, usage and reason forged into the end",
        "PROTOCOL, or what is known of them is taken once",
        _OWN_ID + 'forge(frame(b\'F\', b\'{"path": "a", "path": "../b", "size": 0, "size": 9}\'))\n'
        "forge(frame(b'Z', json.dumps({'id': ids[-1], 'ok': True, 'error': '', 'reason': 'OK', 'usage': {'cpu_seconds': -1}}).encode()))\n",
    ),
    _forge(
        "text-that-is-none",
        "overlong UTF-8, halves of surrogates, a byte order mark, NUL in an error and in a path",
        "PROTOCOL, or text that every reader takes",
        _OWN_ID + 'forge(frame(b\'F\', b\'{"path": "\\xc0\\xae\\xc0\\xae/x", "size": 0}\'))\n'
        'forge(frame(b\'F\', b\'{"path": "\\\\ud800.txt", "size": 0}\'))\n'
        "forge(b'Z' + (3).to_bytes(4, 'big') + b'\\xef\\xbb\\xbf')\n",
    ),
    _forge(
        "surrogates-in-the-error",
        "an end whose error holds halves of surrogates, which no wire format can carry",
        "text, or PROTOCOL; the caller gets an answer",
        _OWN_ID
        + 'forge(frame(b\'Z\', b\'{"id": "\' + ids[-1].encode() + b\'", "ok": false, "error": "\\\\ud800\\\\udfff\\\\u0000"}\'))\n',
    ),
    _forge(
        "frames-within-frames",
        "a frame of output that looks like a file and an end to whoever parses it again",
        "output stays output; then the time limit",
        _OWN_ID
        + "inner = frame(b'F', b'{\"path\": \"a\", \"size\": 1}') + frame(b'D', b'x') + frame(b'Z', json.dumps({'id': ids[-1], 'ok': True, 'error': ''}).encode())\n"
        "forge(frame(b'O', inner))\n",
        frozenset({"TIMEOUT"}),
    ),
    _forge(
        "empty-frames",
        "a hundred thousand frames of no bytes",
        "PROTOCOL at the first",
        "forge(frame(b'O', b'') * 100_000)\n",
        _PROTOCOL,
    ),
    _forge(
        "drops",
        "an honest-looking frame, one byte every hundred milliseconds, for ever",
        "killed at the time limit; the service waits for nobody",
        "forge(b'O' + (1 << 19).to_bytes(4, 'big'))\nwhile True:\n    forge(b'x')\n    time.sleep(0.1)\n",
        frozenset({"TIMEOUT"}),
    ),
    _forge(
        "a-million-crumbs",
        "a million frames of one byte of output",
        "read at a limited pace; capped; killed at the time limit",
        "for _ in range(1000):\n    forge(frame(b'O', b'x') * 1000)\n",
    ),
    _forge(
        "refusals-without-end",
        "50,000 files that are refused, each with a long name of its own",
        "a bounded list; then PROTOCOL",
        "for n in range(50_000):\n    forge(frame(b'F', json.dumps({'path': '../' + 'n' * 200 + str(n), 'size': 1 << 40}).encode()))\n",
    ),
    Attack(
        "bombs-that-unpack",
        "a picture of 10^9 pixels in a few kilobytes, an archive of a gigabyte of zeros, a workbook with macros",
        "bytes for the caller; nobody outside unpacks anything",
        """
import gzip, struct, zipfile, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = zlib.compressobj(9)
body = b"".join(rows.compress(bytes(1 << 20)) for _ in range(100)) + rows.flush()
with open("/work/bomb.png", "wb") as file:
    file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 65000, 65000, 8, 2, 0, 0, 0)) + chunk(b"zTXt", b"a\\0\\0" + body) + chunk(b"IDAT", body) + chunk(b"IEND", b""))
with gzip.open("/work/bomb.csv.gz", "wb", 9) as file:
    for _ in range(100):
        file.write(bytes(1 << 20))
with zipfile.ZipFile("/work/macros.xlsm", "w", zipfile.ZIP_DEFLATED) as book:
    book.writestr("[Content_Types].xml", "<Types/>")
    book.writestr("../../../tmp/quelea-escaped", "zip slip")
    book.writestr("xl/vbaProject.bin", bytes(1 << 20))
report("bombs", False)
""",
        ends=frozenset({"OK"}),
        check=_small,
    ),
    Attack(
        "pages-in-disguise",
        "SVG, XHTML, a page behind a PNG's or PDF's first bytes, UTF-16 and UTF-7 pages, a page called table.csv",
        "never a type that a browser would run",
        """
script = "<script>alert(1)</script>"
for name, data in {
    "chart.png": b"\\x89PNG\\r\\n\\x1a\\n" + script.encode(), "chart.svg": f"<svg xmlns='http://www.w3.org/2000/svg'>{script}</svg>".encode(),
    "page.xhtml": f"<?xml version='1.0'?><html>{script}</html>".encode(), "report.pdf": b"%PDF-" + script.encode(), "table.csv": f"a,b\\n{script},1\\n".encode(),
    "wide.txt": script.encode("utf-16"), "seven.txt": script.encode("utf-7"), "gif.gif": b"GIF89a/*" + script.encode(), "data.json": b"[" + script.encode() + b"]"}.items():
    with open(f"/work/{name}", "wb") as file:
        file.write(data)
report("pages", False)
""",
        check=_as_bytes,
    ),
    Attack(
        "files-that-change",
        "files that grow, shrink, vanish and become folders while they are read for their way back",
        "what came is bounded and of one file; the run ends",
        """
import random
for number in range(20):
    write_file(f"/work/f{number}", "x" * 100_000)
for _ in range(3):
    if os.fork() == 0:
        while True:
            path = f"/work/f{random.randrange(20)}"
            with contextlib.suppress(OSError):
                what = random.randrange(5)
                if what == 0: os.truncate(path, random.choice([0, 1, 200_000, 30 << 20]))
                elif what == 1: os.unlink(path)
                elif what == 2: os.mkdir(path)
                elif what == 3: os.rmdir(path)
                else: os.symlink("/proc/self/mem", path)
report("race", False)
""",
        ends=ANY,
        check=_bounded,
    ),
    Attack(
        "folders-that-change",
        "a folder that becomes a link to / and to /proc while what lies in it is read",
        "bytes from inside the container only, bounded; the run ends",
        """
os.makedirs("/work/d/sub")
write_file("/work/d/sub/passwd")
write_file("/work/d/sub/status")
for target in ("/etc", "/proc/self", "/proc/1"):
    if os.fork() == 0:
        while True:
            with contextlib.suppress(OSError):
                os.rename("/work/d/sub", "/work/d/.old")
                os.symlink(target, "/work/d/sub")
                os.unlink("/work/d/sub")
                os.rename("/work/d/.old", "/work/d/sub")
report("race", False)
""",
        ends=ANY,
        check=_bounded,
    ),
    Attack(
        "names-side-by-side",
        "names that differ in case, in normal form or by invisible marks only; the longest names there are",
        "given back as they are or refused; never under another's name",
        """
for name in ("a.txt", "A.TXT", "caf\\u00e9.csv", "cafe\\u0301.csv", "x\\u200b.txt", "x.txt", "n" * 255, "\\u4e2d" * 85, "CON", "nul.txt", "a.", "\\ufeffb"):
    with contextlib.suppress(OSError):
        write_file(f"/work/{name}", name[:1])
path = "/work"
for _ in range(12):
    path += "/" + "d" * 200
    os.mkdir(path)
    with contextlib.suppress(OSError):
        write_file(f"{path}/f")
report("names", False)
""",
        ends=ANY,
        check=_bounded,
    ),
    Attack(
        "garbage-over-the-pipes",
        "put files, /dev/zero and its own pipes over the protocol's descriptors",
        "the run ends without a result, or killed",
        """
zero = os.open("/dev/zero", os.O_RDWR)
print("blocked", flush=True)
for fd in pipes():
    with contextlib.suppress(OSError):
        os.dup2(zero, fd)
while True:
    time.sleep(1)
""",
        ends=KILLED,
        tried=0,
        limits=SHORT,
    ),
    Attack(
        "two-writers",
        "a child that writes right frames in pieces between the guest's own",
        "PROTOCOL, or its word for its own run",
        """
if os.fork() == 0:
    while True:
        for byte in frame(b"O", b"between"):
            forge(bytes([byte]))
for number in range(2000):
    print("x" * 1000, flush=True)
""",
        ends=ANY,
        tried=0,
        limits=SHORT,
        check=_bounded,
    ),
]
