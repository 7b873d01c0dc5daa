"""What the first step of a session leaves for the second: hooks, threads, forged results, links in the files' place."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, OVER, Attack
from support.sandbox import Ran

ANY = KILLED | {"OK", OVER, "ENGINE"}
SHORT = {"wall_seconds": 4.0}


def _a_second(ran: Ran) -> None:
    assert ran.finished.usage.wall_seconds >= 1.0, "the keeper's clock, not the code's"


def _no_files(ran: Ran) -> None:
    assert ran.files == {}


ATTACKS = [
    Attack(
        "hooks-for-the-next-step",
        "leave LD_PRELOAD, usercustomize, PYTHONSTARTUP, an import hook and a trace function for the session's next step",
        "the same container without rights; a library that it wrote is not loaded by its children",
        """
import shutil, site
with open("/proc/self/maps") as maps:
    library = next(line.split()[-1] for line in maps if ".so" in line and "/lib" in line)
shutil.copy(library, "/work/evil.so")
os.chmod("/work/evil.so", 0o755)
folder = f"/tmp/.local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
os.makedirs(folder, exist_ok=True)
write_file(f"{folder}/usercustomize.py", "import os; os.environ['QUELEA_PLANTED'] = '1'")
os.environ.update(LD_PRELOAD="/work/evil.so", PYTHONSTARTUP="/work/.start.py", PYTHONPATH="/work", LD_AUDIT="/work/evil.so")
class Hook:
    def find_spec(self, name, path=None, target=None):
        return None
sys.meta_path.insert(0, Hook())
sys.settrace(lambda *told: None)
report("hooks", False)
""",
        then="""
import subprocess
report("rights", os.getuid() == 0 or "CapEff:\\t0000000000000000" not in open("/proc/self/status").read())
told = subprocess.run([sys.executable, "-c", "print(open('/proc/self/maps').read())"], capture_output=True, text=True)
run = [line for line in told.stdout.splitlines() if "/work/evil.so" in line and "x" in line.split()[1]]
report("its library in a child", bool(run), told.stderr[:80])
""",
        tried=3,
    ),
    Attack(
        "speaks-between-steps",
        "a thread that goes on writing right frames when its step is over and nothing runs",
        "the session ends; a frame out of turn is never taken for the next step's",
        """
import threading
def speak():
    while True:
        time.sleep(0.001)
        forge(frame(b"O", b"between the steps"))
report("thread", False)
sys.stdout.flush()
time.sleep(0.1)
threading.Thread(target=speak, daemon=True).start()
""",
        then="print('second')\n",
        ends=ANY,
        limits=SHORT,
    ),
    Attack(
        "results-ahead",
        "the end of its own step, and right behind it ends for the steps that will come",
        "nothing may come while nothing runs: the session ends",
        """
frame_of, ids = sys._getframe(), []
while frame_of is not None:
    if "task" in frame_of.f_locals: ids.append(frame_of.f_locals["task"]["id"])
    frame_of = frame_of.f_back
import json
ends = [frame(b"Z", json.dumps({"id": one, "ok": True, "error": ""}).encode()) for one in (ids[-1], ids[-1], "", "next")]
print("blocked ahead", flush=True)
forge(b"".join(ends))
time.sleep(30)
""",
        then="print('second')\n",
        ends=frozenset({OVER, "PROTOCOL", "ENGINE"}),
        tried=0,
        limits=SHORT,
        check=_no_files,
    ),
    Attack(
        "answers-for-the-next-step",
        "replace the guest's functions, so that the next step's code is not run and a made-up result is given",
        "its word for its own session; another's run, right after, is its own",
        """
frame_of = sys._getframe()
while frame_of is not None:
    if "runner" in frame_of.f_locals:
        def lie(code, *, keep):
            print("999.99 blocked forged")
            return True, ""
        frame_of.f_locals["runner"].run = lie
    frame_of = frame_of.f_back
""",
        then="print('the truth')\n",
    ),
    Attack(
        "clock-of-the-next-step",
        "stop every clock of the interpreter, so that the next step seems to take no time",
        "time is the keeper's: it counts all of it",
        """
import select
sleep = select.select
for name in ("time", "monotonic", "perf_counter", "process_time", "time_ns", "monotonic_ns"):
    setattr(time, name, lambda: 0)
time.sleep = lambda seconds: None
report("clocks", False)
""",
        then="sleep([], [], [], 1.2)\n",
        check=_a_second,
    ),
    Attack(
        "no-room-for-the-next-step",
        "fill the working directory and the table of processes, and stay",
        "the next step says that it does not fit, or works; the session goes with all of it",
        """
for _ in range(80):
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            time.sleep(600)
with contextlib.suppress(OSError):
    for number in range(40):
        with open(f"/work/.f{number}", "wb") as file:
            for _ in range(32):
                file.write(bytes(1 << 20))
report("full", False)
""",
        then="print('second')\n",
        then_input={"prices.csv": b"x" * 100_000},
        ends=ANY,
        limits={"wall_seconds": 20.0},
    ),
    Attack(
        "threads-for-the-next-step",
        "fifty threads that spin without end while the next step runs, and a timer that raises in the middle of it",
        "the next step ends within its own limits; the session, when it is closed",
        """
import signal, threading
def spin():
    while True:
        pass
for _ in range(50):
    with contextlib.suppress(RuntimeError):
        threading.Thread(target=spin, daemon=True).start()
def ring(*told):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
report("threads", False)
""",
        then="import time\nfor _ in range(100):\n    time.sleep(0.01)\nprint('second')\n",
        ends=ANY,
        tried=0,
        limits={"wall_seconds": 6.0},
    ),
    Attack(
        "links-for-the-next-files",
        "a link to /dev/zero, a link to a folder outside and a FIFO where the next step's files will be written",
        "they go nowhere outside of the container; who is blocked by it is killed at the time limit",
        """
os.symlink("/opt/quelea", "/work/folder")
os.symlink("/etc/passwd", "/work/passwd.csv")
with contextlib.suppress(OSError):
    os.mkfifo("/work/waits.csv")
report("links", False)
""",
        then="report('the image', 'evil' in open('/etc/passwd').read())\n",
        then_input={"passwd.csv": b"evil", "folder/guest.py": b"evil", "waits.csv": b"evil"},
        ends=ANY,
        limits=SHORT,
        check=_no_files,
    ),
]
