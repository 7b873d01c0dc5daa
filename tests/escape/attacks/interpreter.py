"""The interpreter against its guest: hooks, exits, other interpreters, texts that bite whoever shows them."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack
from support.sandbox import Ran

ANY = KILLED | {"OK"}
SHORT = {"wall_seconds": 4.0}


def _short_error(ran: Ran) -> None:
    assert len(ran.finished.error.encode()) <= 16 << 10
    assert len(ran.stdout) + len(ran.stderr) <= 1 << 20


ATTACKS = [
    Attack(
        "startup-files",
        "plant sitecustomize, usercustomize, .pth files and a fake pandas for the next interpreter",
        "only its own children can find them; they go with the container",
        """
import site
left = 0
for folder in ("/work", "/tmp", "/tmp/.local/lib/python3.11/site-packages", site.getsitepackages()[0], "/usr/local/lib/python3.11"):
    for name in ("sitecustomize.py", "usercustomize.py", "evil.pth", "pandas.py", "json.py"):
        with contextlib.suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            write_file(f"{folder}/{name}", "import os; os.environ['QUELEA_PLANTED'] = '1'\\n")
            left += not folder.startswith(("/work", "/tmp"))
report("outside of its own folders", left > 0, left)
""",
    ),
    Attack(
        "find-startup-files",
        "look whether the run before has changed what an interpreter loads",
        "nothing is there",
        """
import json, subprocess
report("this one", "QUELEA_PLANTED" in os.environ)
report("a child", b"1" in subprocess.run([sys.executable, "-c", "import os; print(os.environ.get('QUELEA_PLANTED', ''))"], capture_output=True).stdout)
report("json", not json.__file__.startswith("/usr/"), json.__file__)
""",
        tried=3,
    ),
    Attack(
        "poison-caches",
        "replace matplotlib's font list, its style, and compiled modules in caches by pickles and bombs",
        "its own copies only",
        """
import pickle
class Evil:
    def __reduce__(self):
        return (os.system, ("touch /tmp/quelea-escaped",))
folder = os.environ.get("MPLCONFIGDIR", "/tmp/matplotlib")
os.makedirs(folder, exist_ok=True)
for name in [*os.listdir(folder), "fontlist-v390.json", "matplotlibrc", "fontlist.pickle"]:
    with contextlib.suppress(OSError), open(f"{folder}/{name}", "wb") as file:
        file.write(pickle.dumps(Evil()))
attempt("the image's seed", lambda: write_file("/opt/quelea/matplotlib/fontlist.json"))
attempt("a compiled module", lambda: write_file(os.path.join(os.path.dirname(os.__file__), "__pycache__/os.cpython-311.pyc")))
""",
        tried=2,
    ),
    Attack(
        "find-poisoned-caches",
        "plot after the caches of the run before were replaced",
        "a picture",
        """
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig("/work/plot.png")
report("plot", read_file("/work/plot.png", 4) != b"\\x89PNG")
""",
    ),
    Attack(
        "never-finish",
        "exit hooks, finalizers and threads that go on after the code has ended, writing all the time",
        "the run ends; the container goes with all of them",
        """
import atexit, threading
class Stays:
    def __del__(self):
        while True:
            time.sleep(1)
kept = Stays()
kept.self = kept
atexit.register(lambda: time.sleep(1000))
def shout():
    while True:
        print("after the end", flush=True)
        time.sleep(0.001)
for _ in range(5):
    threading.Thread(target=shout).start()
report("hooks", False)
""",
        ends=ANY,
        limits=SHORT,
    ),
    Attack(
        "exit-elsewhere",
        "sys.exit in a thread, os._exit in a child, an exception that is an exit, an exit code that is an object",
        "errors of the code, or its end; never the service's",
        """
import threading
print("blocked exits", flush=True)
threading.Thread(target=sys.exit).start()
if os.fork() == 0:
    os._exit(0)
class Odd:
    def __repr__(self):
        raise SystemExit(0)
    __str__ = __eq__ = __repr__
raise SystemExit(Odd())
""",
        ends=frozenset({"ERROR"}),
        limits=SHORT,
    ),
    Attack(
        "another-interpreter",
        "replace the guest by another program that keeps the pipes, and speaks as a fresh guest",
        "PROTOCOL or killed; it never gets another's code",
        """
import subprocess
for fd in pipes():
    os.set_inheritable(fd, True)
out = pipes()
code = f\"\"\"
import os, time
for fd in {out}:
    for kind, data in ((b'R', b'{{"guest": 1, "python": "3.11"}}'), (b'Z', b'{{"id": "", "ok": true, "error": ""}}')):
        try: os.write(fd, kind + len(data).to_bytes(4, "big") + data)
        except OSError: pass
time.sleep(60)
\"\"\"
os.execv(sys.executable, [sys.executable, "-c", code])
""",
        ends=KILLED,
        tried=0,
        limits=SHORT,
    ),
    Attack(
        "many-speakers",
        "twenty children that all go on as the guest after the end of the code",
        "one of them is heard; the run ends once",
        "for _ in range(20):\n    if os.fork() == 0:\n        break\nprint('blocked', os.getpid(), flush=True)\n",
        ends=ANY,
        limits=SHORT,
        tried=0,
    ),
    Attack(
        "errors-that-bite",
        "an exception whose text is a gigabyte, recurses, exits, or prints for ever; chains of 20,000",
        "cut to 16 KiB, or killed at a limit",
        """
class Bites(Exception):
    def __str__(self):
        return "x" * (200 << 20)
error = None
for number in range(20_000):
    new = Bites(number)
    new.__cause__ = error
    error = new
print("blocked here", flush=True)
raise error
""",
        ends=KILLED,
        limits={"wall_seconds": 15.0},
        check=_short_error,
    ),
    Attack(
        "values-that-bite",
        "a last expression whose shown form never ends",
        "killed at the time limit; output capped",
        """
class Endless:
    def __repr__(self):
        while True:
            print("y" * 100_000)
print("blocked here", flush=True)
Endless()
""",
        ends=KILLED,
        limits=SHORT,
        check=_short_error,
    ),
    Attack(
        "source-bombs",
        "code that hurts the compiler: parentheses 100,000 deep, sums of 100,000 terms, a number of a million digits",
        "an error, or the process dies; the run says so",
        """
for name, text in {"deep": "(" * 100_000, "sum": "+".join("1" * 100_000), "unary": "-" * 1_000_000 + "1", "digits": "1" * 1_000_000, "lambda": "lambda:" * 100_000 + "1", "nested": "[" * 150 + "]" * 150}.items():
    if os.fork() == 0:
        with contextlib.suppress(BaseException):
            eval(compile(text, name, "eval"))
        os._exit(0)
    os.wait()
    report(name, False)
sys.setrecursionlimit(10**9)
def deeper():
    return deeper()
deeper()
""",
        ends=KILLED,
        limits={"wall_seconds": 20.0},
        tried=1,
    ),
    Attack(
        "pictures-without-end",
        "a thousand open figures, one of a billion points, one of 10^10 pixels: the guest saves what is open",
        "within time, memory and the limit of files, or killed",
        """
print("blocked figures", flush=True)
import matplotlib.pyplot as plt
plt.rcParams["figure.max_open_warning"] = 0
plt.figure(figsize=(2000, 2000))
for _ in range(1000):
    plt.figure()
""",
        ends=ANY,
        limits={"wall_seconds": 10.0},
        check=_short_error,
    ),
    Attack(
        "ask-the-terminal",
        "wait for input, for a password, for an editor",
        "there is no input: an error at once",
        """
import getpass, pdb
attempt("input", lambda: input("password: "))
attempt("a password", lambda: getpass.getpass())
attempt("raw", lambda: os.read(0, 1) or (_ for _ in ()).throw(EOFError("nothing")))
attempt("a terminal", lambda: os.open("/dev/tty", os.O_RDWR))
""",
        tried=4,
    ),
]
