"""Leaving something for the next run; the looks of the next run are in test_neighbours.py as well."""

from escape.attack import Attack

ATTACKS = [
    Attack(
        "leave-files",
        "leave files in every folder that can be written to",
        "the next run finds none of them",
        """
for folder in ("/work", "/tmp", "/dev/shm", "/run/market", "/var/tmp", "/dev/mqueue"):
    with contextlib.suppress(OSError):
        write_file(f"{folder}/quelea-left", "left")
report("left", False)
""",
    ),
    Attack(
        "find-left-files",
        "look for what the run before has left",
        "nothing is there",
        """
for folder in ("/work", "/tmp", "/dev/shm", "/run/market", "/var/tmp", "/dev/mqueue"):
    report(folder, os.path.exists(f"{folder}/quelea-left"))
""",
        tried=6,
    ),
    Attack(
        "poison-the-interpreter",
        "replace built-ins, modules and the guest's own functions",
        "the next run has its own",
        """
import builtins, json
sys.modules["math"] = None
json.dumps = lambda *_, **__: "poisoned"
builtins.len = lambda _: 666
""",
        ends=frozenset({"ERROR", "PROTOCOL", "DIED", "TIMEOUT"}),
        tried=0,
        limits={"wall_seconds": 3.0},
    ),
    Attack(
        "find-a-poisoned-interpreter",
        "look for what the run before has replaced",
        "a fresh interpreter",
        """
import json, math
report("len", len([1]) != 1)
report("json", json.dumps([1]) != "[1]")
report("math", math.pi < 3)
""",
        tried=3,
    ),
    Attack(
        "wait-for-the-next",
        "a thread and a process that wait for another's code to come",
        "the container goes with its run",
        """
import threading
def wait():
    while True:
        time.sleep(0.1)
        for one in pipes():
            with contextlib.suppress(OSError):
                os.write(one, b"")
threading.Thread(target=wait, daemon=True).start()
if os.fork() == 0:
    wait()
report("waiting", False)
""",
    ),
    Attack(
        "shared-memory",
        "leave a segment of shared memory, a semaphore, a message queue",
        "a memory file system of its own and an IPC namespace of its own; both go with the run",
        """
from multiprocessing import Semaphore, resource_tracker, shared_memory
with contextlib.suppress(OSError):
    held = shared_memory.SharedMemory("quelea-left-segment", create=True, size=1 << 20)
    resource_tracker.unregister(held._name, "shared_memory")
with contextlib.suppress(OSError):
    write_file("/dev/mqueue/quelea-left")
report("left", False)
""",
    ),
    Attack(
        "find-shared-memory",
        "look for the segment and the queue of the run before",
        "nothing is there",
        """
from multiprocessing import shared_memory
attempt("segment", lambda: shared_memory.SharedMemory("quelea-left-segment"))
for folder in ("/dev/shm", "/dev/mqueue"):
    report(folder, os.path.isdir(folder) and bool(os.listdir(folder)))
""",
        tried=3,
    ),
]
