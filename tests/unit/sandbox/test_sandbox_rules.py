import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_kit.errors import InvalidInput, TooLarge
from quelea_sandbox.core.files import check_inputs, path_fault, printable
from quelea_sandbox.core.limits import LimitRules, shape_of
from quelea_sandbox.core.media import media_type
from quelea_sandbox.core.model import InputFile, Limits
from quelea_sandbox.settings import SandboxSettings

DEFAULTS = Limits(512 << 20, 1.0, 64, 60.0, 1 << 20, 16 << 20)
MAXIMUM = Limits(2048 << 20, 2.0, 256, 600.0, 16 << 20, 48 << 20)


@pytest.mark.parametrize("path", ["a", "a.csv", "d/e/f.png", "价格.csv", "a b.txt", ".hidden", "..a", "a..b"])
def test_ordinary_paths_are_taken(path: str) -> None:
    assert path_fault(path) == ""


@pytest.mark.parametrize(
    "path",
    [
        "", "/", "/etc/passwd", ".", "..", "../a", "a/..", "a/../b", "a//b", "a/", "./a", "a\x00b", "a\nb", "a\\b",
        "C:a", "\u202egnp.exe", "\ud800", " a", "a /b", "a/" * 8 + "a", "x" * 121, "é" * 61, ("d" * 60 + "/") * 4 + "a",
    ],
)  # fmt: skip
def test_other_paths_are_not(path: str) -> None:
    assert path_fault(path)
    assert printable(path).isascii() and printable(path).isprintable() and len(printable(path)) <= 80


@settings(deadline=None)
@given(st.text(max_size=300))
def test_no_path_that_is_taken_leaves_its_folder(path: str) -> None:
    if not path_fault(path):
        parts = path.split("/")
        assert not path.startswith("/") and not {"", ".", ".."} & set(parts) and "\x00" not in path


def test_inputs_are_counted_and_do_not_collide() -> None:
    check_inputs((InputFile("a/b", b"1"), InputFile("a/c", b"2")), max_files=2, max_bytes=2)
    with pytest.raises(TooLarge):
        check_inputs((InputFile("a", b""), InputFile("b", b"")), max_files=1, max_bytes=9)
    with pytest.raises(TooLarge):
        check_inputs((InputFile("a", b"123"),), max_files=1, max_bytes=2)
    for files in [("a", "a"), ("a", "a/b"), ("a/b/c", "a/b")]:
        with pytest.raises(InvalidInput):
            check_inputs(tuple(InputFile(path, b"") for path in files), max_files=9, max_bytes=9)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n1", "image/png"),
        (b"%PDF-1.7", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b'{"a": 1}', "application/json"),
        (b"[1, 2", "text/plain"),
        (b"[" * 100_000, "text/plain"),
        ("日期,收盘\n2024-01-02,1.5\n".encode(), "text/csv"),
        (b"one line, one comma", "text/plain"),
        (b"Dear all,\nthis is text.\n", "text/plain"),
        (b"<html><script>alert(1)</script>", "text/plain"),
        (b"<svg onload=alert(1)>", "text/plain"),
        (b"\xff\x00", "application/octet-stream"),
        (b"a\x00b", "application/octet-stream"),
        (b"", "text/plain"),
    ],
)
def test_media_types_come_from_the_bytes(data: bytes, kind: str) -> None:
    assert media_type(data) == kind


@settings(deadline=None)
@given(st.binary(max_size=500))
def test_no_bytes_are_something_that_a_browser_runs(data: bytes) -> None:
    assert media_type(data) not in ("text/html", "image/svg+xml", "text/javascript", "application/xhtml+xml")


def test_limits_are_defaults_where_nothing_is_asked() -> None:
    rules = LimitRules(DEFAULTS, MAXIMUM)
    assert rules.resolve({}) == DEFAULTS
    assert rules.resolve({"pids": 0}) == DEFAULTS
    asked = rules.resolve({"pids": 8, "wall_seconds": 600.0})
    assert (asked.pids, asked.wall_seconds, asked.cpus) == (8, 600.0, 1.0)
    assert shape_of(asked, market=True).market and shape_of(asked, market=False).pids == 8


@pytest.mark.parametrize("name", ["memory_bytes", "cpus", "pids", "wall_seconds", "output_bytes", "files_bytes"])
def test_limits_out_of_bounds_are_refused(name: str) -> None:
    rules = LimitRules(DEFAULTS, MAXIMUM)
    most = getattr(MAXIMUM, name)
    assert getattr(rules.resolve({name: most}), name) == most
    with pytest.raises(TooLarge, match=name):
        rules.resolve({name: most * 1.01 + 1})
    for bad in (-1, float("nan"), float("inf"), -float("inf")):
        with pytest.raises(InvalidInput):
            rules.resolve({name: bad})


def test_defaults_over_their_maximum_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="memory_bytes"):
        LimitRules(MAXIMUM, DEFAULTS)


def test_settings_refuse_what_cannot_be() -> None:
    for wrong in ({"user": "0:0"}, {"user": "root"}, {"market_socket_dir": "relative"}, {"pids": 9999}):
        with pytest.raises(ValueError, match=r"USER|MARKET|pids"):
            SandboxSettings(**wrong)
    assert SandboxSettings(max_containers=1).session_places == 0
    assert [one.market for one in SandboxSettings(market_socket_dir="/run/door").warm_shapes] == [True, False]
