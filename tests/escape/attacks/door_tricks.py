"""More against the door: odd ways to write where a call goes, and callers that drip, leave or pack. Run by test_door.py."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attacks.door import _attack

ATTACKS = [
    _attack(
        "door-other-scripts",
        "addresses inside in other scripts, other notations, other kinds of addresses that lead there",
        "refused before a connection is made",
        """
for host in ("127\\u30020\\u30020\\u30021", "\\uff11\\uff12\\uff17.0.0.1", "\\uff4c\\uff4f\\uff43\\uff41\\uff4c\\uff48\\uff4f\\uff53\\uff54", "169\\uff0e254\\uff0e169\\uff0e254", "%31%32%37.0.0.1", "0", "0x7f.1", "017700000001", "127.0.0.1.", "LOCALHOST", "[::]", "[::ffff:7f00:1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]", "[::1%lo]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "finance.sina.com.cn\\u3002evil.example", "f\\u0456nance.sina.com.cn"):
    refused(host.encode("unicode-escape").decode(), head(upstream=f"http://{host}"))
    refused("port " + host.encode("unicode-escape").decode(), head(upstream=f"http://{host}:{PORT}"))
""",
        42,
    ),
    _attack(
        "door-forged-hosts",
        "the name of an allowed host in every header that a server or proxy might believe, and bad addresses in the door's own",
        "one header says where a call goes, and it is checked",
        """
bad = f"http://127.0.0.1:{PORT}"
for name in ("Host", "X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL", "Forwarded", "X-Host", "Proxy-Authorization", "Via", "X-Quelea-Host", "X-Quelea-Run", "X-Quelea-Mode", "X-Quelea-Refused", "X-Quelea-As-Of", "Connection"):
    refused(name, head(upstream=bad, more="" if name == "Host" else f"{name}: finance.sina.com.cn\\r\\n").replace(b"Host: d", b"Host: finance.sina.com.cn"))
    refused(f"{name} the other way round", head(upstream="http://evil.example", more=f"{name}: {bad}\\r\\n" if name != "Host" else ""))
""",
        28,
    ),
    _attack(
        "door-odd-chunks",
        "lengths of chunks that overflow, with signs, spaces, hexadecimal marks; trailers that rewrite the head",
        "400, or refused by its address; nothing behind is read as a request",
        """
bad = f"http://127.0.0.1:{PORT}"
for size in ("FFFFFFFFFFFFFFFF", "10000000000000005", "-1", "+5", "0x5", " 5", "5 ", "5\\t", "5\\0", "", "g", "5;\\x00", "\\uff15"):
    body = f"{size}\\r\\nhello\\r\\n0\\r\\nX-Quelea-Upstream: https://finance.sina.com.cn\\r\\n\\r\\n".encode()
    refused(repr(size), head(method="POST", upstream=bad, more="Transfer-Encoding: chunked\\r\\n") + body + head(upstream=bad), silent=True)
""",
        13,
    ),
    _attack(
        "door-packed-bodies",
        "bodies of a gigabyte of zeros packed into one megabyte, by every name of packing",
        "bytes: the door unpacks nothing that comes from inside",
        """
import gzip, zlib
for name, data in {"gzip": gzip.compress(bytes(100 << 20)), "deflate": zlib.compress(bytes(100 << 20)), "gzip, gzip": gzip.compress(gzip.compress(bytes(100 << 20)))}.items():
    more = f"Content-Encoding: {name}\\r\\nContent-Length: {len(data)}\\r\\n"
    refused(name, head(method="POST", upstream=f"http://127.0.0.1:{PORT}", more=more) + data)
    chunked = f"Transfer-Encoding: {name}, chunked\\r\\n"
    refused(f"{name} in transfer", head(method="POST", upstream=f"http://127.0.0.1:{PORT}", more=chunked) + f"{len(data):x}\\r\\n".encode() + data + b"\\r\\n0\\r\\n\\r\\n")
""",
        6,
    ),
    _attack(
        "door-drips",
        "twenty heads and bodies of which a byte comes every second, for as long as the door takes it",
        "closed after the longest time for a head or a body; another run's calls are answered meanwhile",
        """
held = []
for number in range(20):
    one = dial(1.0)
    one.sendall(b"GET / HTTP/1.1\\r\\nX-A: " if number % 2 else head(method="POST", upstream="http://127.0.0.1", more="Content-Length: 100000\\r\\n"))
    one.setblocking(False)
    held.append(one)
while held:
    for one in list(held):
        try:
            one.send(b"a")
            if one.recv(65536) == b"":
                held.remove(one)
        except BlockingIOError:
            pass
        except OSError:
            held.remove(one)
    time.sleep(1)
report("dripping", False)
""",
        1,
        limits={"wall_seconds": 200.0},
    ),
    _attack(
        "door-leave-at-once",
        "a thousand calls whose caller leaves before, in the middle of, and right after the request",
        "each is dropped; another run's calls are answered meanwhile",
        """
import struct
whole = head(upstream=f"http://127.0.0.1:{PORT}")
for number in range(1000):
    with contextlib.suppress(OSError):
        one = dial(2.0)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.sendall(whole[: (0, 20, len(whole) - 1, len(whole))[number % 4]])
        one.close()
report("left", False)
""",
        1,
        limits={"wall_seconds": 120.0},
    ),
]
