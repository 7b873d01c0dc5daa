"""The market-data door as the way out: what code does with its socket and its token. Run by test_door.py, on a real door."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import KILLED, Attack

PRELUDE_DOOR = '''
import socket
TOKEN = os.environ["QUELEA_MARKET_TOKEN"]
PORT, CLOSED = read_file("/work/port").decode(), read_file("/work/closed").decode()

def dial(seconds=15.0):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(seconds)
    one.connect("/run/market/door.sock")
    return one

def head(target="/", upstream="https://finance.sina.com.cn", method="GET", token=None, more=""):
    return f"{method} {target} HTTP/1.1\\r\\nHost: d\\r\\nX-Quelea-Token: {TOKEN if token is None else token}\\r\\nX-Quelea-Upstream: {upstream}\\r\\n{more}\\r\\n".encode("utf-8", "surrogateescape")

def speak(data, seconds=5.0):
    """Bytes to the door; all that it says until it closes or is silent."""
    with dial(seconds) as one:
        answer = b""
        with contextlib.suppress(OSError):
            one.sendall(data)
        with contextlib.suppress(OSError):
            while part := one.recv(65536):
                answer += part
                one.settimeout(0.3)
    return answer

def refused(what, data, silent=False):
    """It must be refused with the door's own reason; or, where a request never ends, closed or left without a word."""
    answer = speak(data)
    reason = answer.lower().partition(b"x-quelea-refused: ")[2].split(b"\\r\\n")[0]
    good = (silent and answer == b"") or (reason and b" 200 " not in answer.split(b"\\r\\n")[0])
    report(what, not good, reason if good else answer[:100])
'''

DOOR_FILES = {"port": b"@PORT@", "closed": b"@CLOSED@"}


def _attack(name: str, tries: str, holds: str, code: str, tried: int, **more: object) -> Attack:
    return Attack(name, tries, holds, PRELUDE_DOOR + code, tried=tried, input=DOOR_FILES, **more)  # type: ignore[arg-type] # fields


ATTACKS = [
    _attack(
        "door-to-inside",
        "calls to the metadata service, loopback, private and link-local addresses, in every way to write them",
        "refused before a name is looked up or a connection made",
        """
for host in ("169.254.169.254", "127.0.0.1", "localhost", "0.0.0.0", "10.0.0.1", "172.17.0.1", "192.168.0.1", "100.100.100.200", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "[fe80::1]", "[fd00:ec2::254]", "metadata.google.internal", "localhost.", "host.docker.internal", "\\u2460\\u2461\\u2466.0.0.1", "127.0.0.1.nip.io"):
    for scheme in ("http", "https"):
        refused(f"{scheme} {host}", head(upstream=f"{scheme}://{host}"))
        refused(f"{scheme} {host} port", head(upstream=f"{scheme}://{host}:{PORT}"))
""",
        84,
    ),
    _attack(
        "door-to-listed-names-inside",
        "names on the allow-list that lead to loopback, as after rebinding; addresses on the list by mistake",
        "refused by the address",
        """
for upstream in ("http://localhost", "https://localhost", "http://127.0.0.1", "http://169.254.169.254", "http://[::1]"):
    answer = speak(head(upstream=upstream))
    report(upstream, b"x-quelea-refused" not in answer.lower() or ("[" not in upstream and b"refused: address" not in answer.lower()), answer[:80])
""",
        5,
    ),
    _attack(
        "door-as-a-proxy",
        "CONNECT, absolute targets, other methods, other schemes",
        "refused",
        """
for method in ("CONNECT", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND", "get", "G\\u00cbT"):
    refused(method, head(method=method, target=f"127.0.0.1:{PORT}" if method == "CONNECT" else "/"))
for target in (f"http://127.0.0.1:{PORT}/", "http://169.254.169.254/latest", f"//127.0.0.1:{PORT}/", "*", f"@127.0.0.1:{PORT}/", f"\\\\\\\\127.0.0.1:{PORT}\\\\x"):
    answer = speak(head(target=target, upstream=f"http://127.0.0.1:{PORT}"))
    report(target, b"x-quelea-refused" not in answer.lower(), answer[:80])
for upstream in ("file:///etc/passwd", "gopher://127.0.0.1", "ftp://127.0.0.1", "unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock", "javascript:1", "https://", ""):
    refused(upstream, head(upstream=upstream))
""",
        20,
    ),
    _attack(
        "door-confused-about-hosts",
        "an allowed name in front of, behind or around another one: users, fragments, backslashes, dots, escapes",
        "one reading of an address, the same at the check and at the call",
        """
good, bad = "finance.sina.com.cn", f"127.0.0.1:{PORT}"
for upstream in (f"https://{good}@{bad}", f"http://{bad}#{good}", f"http://{bad}?{good}", f"http://{bad}/{good}", f"http://{bad}\\\\@{good}", f"http://{good}.evil.example", f"http://evil-{good}", f"http://{bad}%2f{good}", f"http://{good}%00.{bad}", f"http://{bad}, http://{good}", f"http://{good}:99999", f"http://{good}:-1", f"http://{good}:{PORT}", f"http://user:pw@{good}", f"http://{good}\\t.evil.example"):
    refused(upstream, head(upstream=upstream))
""",
        15,
    ),
    _attack(
        "door-smuggling",
        "two requests in one: lengths against chunks, two lengths, folded and odd headers, bare line ends",
        "400, and what follows is not read as a request",
        """
inner = head(upstream=f"http://127.0.0.1:{PORT}")
for name, more in {"length and chunks": "Content-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n", "chunks twice": "Transfer-Encoding: chunked\\r\\nTransfer-Encoding: identity\\r\\n", "odd chunks": "Transfer-Encoding: xchunked\\r\\n", "two lengths": "Content-Length: 0\\r\\nContent-Length: 400\\r\\n", "negative length": "Content-Length: -1\\r\\n",
                   "length with a sign": "Content-Length: +4\\r\\n", "space before the colon": "Content-Length : 4\\r\\n", "folded": "X-Quelea-Upstream:\\r\\n http://127.0.0.1\\r\\n", "two upstreams": f"X-Quelea-Upstream: http://127.0.0.1:{PORT}\\r\\n", "two tokens": "X-Quelea-Token: x\\r\\n", "NUL": "X-A: a\\0b\\r\\n", "two hosts": "Host: e\\r\\n"}.items():
    refused(name, head(method="POST", more=more) + inner)
refused("bare line ends", head().replace(b"\\r\\n", b"\\n").replace(b"finance.sina.com.cn", f"127.0.0.1:{PORT}".encode()))
refused("bare returns", head().replace(b"\\r\\n", b"\\r"), silent=True)
refused("old", b"GET / HTTP/0.9\\r\\n\\r\\n")
""",
        15,
    ),
    _attack(
        "door-other-protocols",
        "websocket and h2c upgrades, HTTP/2, TLS, gRPC's control side, SOCKS, a shell's greeting",
        "refused or closed; never switched",
        """
for name, data in {"websocket": head(upstream="http://127.0.0.1", more="Connection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: eA==\\r\\n"), "h2c": head(upstream="http://127.0.0.1", more="Connection: Upgrade, HTTP2-Settings\\r\\nUpgrade: h2c\\r\\nHTTP2-Settings: AAMAAABk\\r\\n"),
                   "HTTP/2": b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes(9), "TLS": bytes.fromhex("1603010200010001fc0303") + bytes(500), "gRPC": b"POST /quelea.market.v1.MarketDoorService/OpenSession HTTP/1.1\\r\\nHost: d\\r\\nContent-Type: application/grpc\\r\\nContent-Length: 5\\r\\n\\r\\n" + bytes(5), "SOCKS": bytes.fromhex("050100"), "garbage": os.urandom(4096)}.items():
    answer = speak(data)
    first = answer.split(b"\\r\\n")[0]
    report(name, b" 101 " in first or b" 200 " in first, first)
""",
        7,
    ),
    _attack(
        "door-tokens",
        "no token, a guessed, a cut, a closed one, one a byte off, one of 60,000 characters, in other places",
        "403 for each, and no host is asked",
        """
for name, token in {"none": "", "guessed": "a" * 43, "cut": TOKEN[:-1], "longer": TOKEN + "a", "one off": TOKEN[:-1] + ("a" if TOKEN[-1] != "a" else "b"), "of a run that has ended": CLOSED, "huge": "x" * 60_000, "bearer": f"Bearer {TOKEN}", "list": f"{TOKEN}, {TOKEN}"}.items():
    refused(name, head(token=token))
refused("in the address", f"GET /?token={TOKEN} HTTP/1.1\\r\\nHost: d\\r\\nAuthorization: Bearer {TOKEN}\\r\\nX-Quelea-Upstream: https://finance.sina.com.cn\\r\\n\\r\\n".encode())
""",
        10,
    ),
    _attack(
        "door-too-much",
        "heads and addresses of a megabyte, 100,000 headers, bodies of 10 GB, chunks without end",
        "413 or 431, or closed; nothing of it is kept",
        """
refused("head", head(more="X-A: " + "a" * (1 << 20) + "\\r\\n"))
refused("headers", head(more="X-A: a\\r\\n" * 100_000))
refused("address", head(target="/" + "a" * (1 << 20)))
refused("upstream", head(upstream="https://" + "a." * 30_000 + "com"))
refused("announced", head(method="POST", more="Content-Length: 10000000000\\r\\n") + b"x" * (1 << 20), silent=True)
chunk = b"100000\\r\\n" + bytes(1 << 20) + b"\\r\\n"
refused("chunks", head(method="POST", more="Transfer-Encoding: chunked\\r\\n") + chunk * 40)
refused("a chunk's name", head(method="POST", more="Transfer-Encoding: chunked\\r\\n") + b"5;" + b"a" * (1 << 20), silent=True)
""",
        7,
    ),
    _attack(
        "door-floods",
        "a thousand requests behind each other, refused ones without end, answers that nobody reads",
        "answered in turn; who does not read waits alone",
        """
answer = speak(head(upstream="http://127.0.0.1") * 1000, seconds=20)
report("pipelined", b" 200 " in answer, answer.count(b"x-quelea-refused"))
held = []
for _ in range(50):
    one = dial()
    with contextlib.suppress(OSError):
        one.sendall(head(upstream="http://127.0.0.1") * 100)
    held.append(one)
report("unread", False)
for _ in range(40):
    speak(head(token="guess"))
report("refused", False)
""",
        3,
        limits={"wall_seconds": 60.0},
        ends=frozenset({"OK", "TIMEOUT"}),
    ),
    _attack(
        "door-held-open",
        "all of the door's connections, held by half a request, and taken again as soon as one is closed",
        "who waits longest is closed for who comes; another run's calls are answered meanwhile",
        """
print("blocked holding", flush=True)
for _ in range(8):
    if os.fork() == 0:
        break
held = []
while True:
    try:
        one = dial()
        one.sendall(b"GET / HTTP/1.1\\r\\nHost:")
        held.append(one)
        time.sleep(0.005)
    except OSError:
        for one in held:
            one.close()
        held = []
""",
        0,
        limits={"wall_seconds": 15.0},
        ends=KILLED,
    ),
    _attack(
        "door-budget",
        "more calls than the run may make",
        "429 with a reason; the log has each",
        """
answers = [speak(head(target=f"/list={n}", upstream="https://hq.sinajs.cn")) for n in range(40)]
report("calls", not any(b"x-quelea-refused: CALLS".lower() in one.lower() for one in answers), answers[-1][:200])
""",
        1,
    ),
    _attack(
        "door-after-the-end",
        "a process that goes on calling after the run's code has ended",
        "gone with the container",
        """
if os.fork() == 0:
    os.setsid()
    while True:
        with contextlib.suppress(OSError):
            speak(head(upstream="http://127.0.0.1"))
report("left", False)
""",
        1,
    ),
]
