"""Questions, bounds, keys, access, metadata, pages: what needs no server."""

import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quelea_gateway import keys
from quelea_gateway.access import Access, CallLimiter, is_loopback
from quelea_gateway.core.asking import question as rules
from quelea_gateway.core.asking.follow_ups import query_for
from quelea_gateway.core.callers.access import Principal, Right
from quelea_gateway.core.model import Turn
from quelea_gateway.rest.knowledge_base.metadata import metadata_for
from quelea_gateway.rest.knowledge_base.page_view import span_of
from quelea_gateway.rest.knowledge_base.uploads import clean_name
from quelea_gateway.settings import Settings
from quelea_kit.errors import Conflict, InvalidInput, NotFound, Overloaded, PermissionDenied, TooLarge, Unauthenticated
from quelea_kit.reach import Reach

LIMITS = rules.Limits()


def name_of(ring, key):
    found = ring.principal_of(key)
    return found and found.subject


def test_defaults_are_filled_in():
    question = rules.build("  Net sales?  ", LIMITS)
    assert (question.text, question.k, question.j) == ("Net sales?", 20, 8)
    assert len(question.as_of) == 10


@pytest.mark.parametrize(
    ("given", "expected"), [({"k": 3}, (3, 3)), ({"j": 30}, (30, 30)), ({"k": 50}, (50, 8)), ({"k": 9, "j": 9}, (9, 9))]
)
def test_k_and_j_fit_each_other(given, expected):
    question = rules.build("q", LIMITS, **given)
    assert (question.k, question.j) == expected


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"route": "moon"}, InvalidInput),
        ({"k": 201}, InvalidInput),
        ({"j": 101}, InvalidInput),
        ({"k": 2, "j": 3}, InvalidInput),
        ({"as_of": "2023-13-01"}, InvalidInput),
        ({"as_of": "9999-12-31"}, InvalidInput),
        ({"as_of": "20230101"}, InvalidInput),
        ({"history": [Turn("user", "x" * 50_000)]}, TooLarge),
    ],
)
def test_what_is_refused(given, error):
    with pytest.raises(error):
        rules.build("q", LIMITS, **given)


@pytest.mark.parametrize(("given", "route"), [("", "auto"), ("auto", "auto"), ("local", "local"), ("web", "web")])
def test_routes(given, route):
    assert rules.build("q", LIMITS, route=given).route == route


def test_a_trimmed_history_keeps_the_last_turns():
    history = [Turn("user", str(n)) for n in range(100)]
    assert [turn.text for turn in rules.trim_history(history, LIMITS)] == [str(n) for n in range(60, 100)]
    assert rules.trim_history([Turn("user", "x" * 50_000)], LIMITS) == ()


@pytest.mark.parametrize(
    "question", ["And in Q2?", "What about its margin?", "How did that change?", "那研发费用呢？", "该公司的利润"]
)
def test_questions_that_lean(question):
    assert query_for(question, (Turn("user", "before"),)).startswith("before")
    assert query_for(question, ()) == question


@pytest.mark.parametrize(
    "question", ["What were Apple's net sales in Q3 2023?", "织羽股份的营业收入是多少？", "x" * 200 + " it"]
)
def test_questions_that_stand(question):
    assert query_for(question, (Turn("user", "before"),)) == question


def test_concurrent_calls_are_bounded_by_key():
    bounds = CallLimiter(2)
    with bounds.call("a"), bounds.call("a"):
        with pytest.raises(Overloaded) as caught, bounds.call("a"):
            pass
        assert caught.value.retry_after
        with bounds.call("b"):
            pass
    with bounds.call("a"):
        pass


def test_a_failed_call_gives_its_place_back():
    bounds = CallLimiter(1)
    for _ in range(3):
        with pytest.raises(ValueError, match="x"), bounds.call("a"):
            raise ValueError("x")


def test_calls_a_minute_refill_evenly():
    clock = [0.0]
    bounds = CallLimiter(10, per_minute=2, now=lambda: clock[0])

    def call():
        with bounds.call("a"):
            pass

    call()
    call()
    with pytest.raises(Overloaded) as caught:
        call()
    assert caught.value.retry_after == pytest.approx(30)
    clock[0] = 30.1
    call()
    with pytest.raises(Overloaded):
        call()


def test_a_key_is_stored_as_its_hash_in_a_private_file(tmp_path):
    file = tmp_path / "deep" / "keys.json"
    key = keys.create(file, "desk")
    assert len(key) > 40
    assert key not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [k.name for k in keys.read(file)] == ["desk"]


def test_keys_are_found_revoked_and_reloaded(tmp_path):
    file = tmp_path / "keys.json"
    ring = keys.KeyRing(file)
    assert (len(ring), name_of(ring, "x")) == (0, None)
    first, second = keys.create(file, "a"), keys.create(file, "b")
    assert (name_of(ring, first), name_of(ring, second), name_of(ring, first[:-1])) == ("a", "b", None)
    keys.revoke(file, "a")
    assert (name_of(ring, first), name_of(ring, second)) == (None, "b")
    file.unlink()
    assert name_of(ring, second) is None


def test_a_key_of_before_there_were_tenants_may_do_everything_in_the_default_one(tmp_path):
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [{"name": "old", "sha256": keys.digest("k"), "created": "2026-01-01"}]}))
    assert keys.KeyRing(file).principal_of("k") == Principal.unbounded("old")


def test_a_key_names_its_tenant_and_rights(tmp_path):
    file = tmp_path / "keys.json"
    key = keys.create(file, "b", tenant="bonds", rights={"*": "read", "us": "write"})
    found = keys.KeyRing(file).principal_of(key)
    assert found == Principal("b", "bonds", {"*": Right.READ, "us": Right.WRITE})
    assert found.owner != Principal.unbounded("b").owner
    for bad in ({"tenant": "No Good"}, {"rights": {"*": "own"}}, {"rights": {"A b": "read"}}):
        with pytest.raises(InvalidInput):
            keys.create(file, "c", **bad)
    stored = json.loads(file.read_text())
    stored["keys"][0]["rights"] = {"*": "everything"}
    file.write_text(json.dumps(stored))
    with pytest.raises(InvalidInput):
        keys.KeyRing(file).principal_of(key)


def test_what_may_not_be_seen_is_not_there_and_what_may_not_be_done_says_which_right_is_missing():
    caller = Principal("x", "bonds", {"us": Right.READ, "hk": Right.WRITE})
    assert caller.reach() == Reach("bonds", ("hk", "us"))
    assert caller.reach(Right.WRITE) == Reach("bonds", ("hk",))
    assert caller.reach(collections=["us"]) == Reach("bonds", ("us",))
    assert Principal.unbounded("x").reach() == Reach()
    with pytest.raises(PermissionDenied, match="right to write collection 'us'"):
        caller.require(Right.WRITE, "us")
    with pytest.raises(NotFound, match="no collection 'cn'"):
        caller.reach(collections=["us", "cn"])
    with pytest.raises(PermissionDenied, match="administrator"):
        caller.require_administrator()
    assert Principal("x").reach() == Reach("default", ())


def test_names_of_keys(tmp_path):
    file = tmp_path / "keys.json"
    keys.create(file, "a")
    with pytest.raises(Conflict):
        keys.create(file, "a")
    with pytest.raises(NotFound):
        keys.revoke(file, "b")
    for bad in ("", "x" * 65, "a\nb"):
        with pytest.raises(InvalidInput):
            keys.create(file, bad)


def test_a_file_that_is_no_keys_file_opens_nothing(tmp_path):
    file = tmp_path / "keys.json"
    file.write_text('{"keys": [{"name": "x"}]}')
    with pytest.raises(InvalidInput):
        keys.KeyRing(file).principal_of("x")


def test_the_command_prints_a_key_once(tmp_path, capsys):
    file = tmp_path / "keys.json"
    assert keys.main(["create", "desk", "--file", str(file)]) == 0
    key = capsys.readouterr().out.strip()
    assert name_of(keys.KeyRing(file), key) == "desk"
    assert keys.main(["list", "--file", str(file)]) == 0
    assert "desk" in capsys.readouterr().out
    assert keys.main(["create", "desk", "--file", str(file)]) == 1
    assert "already" in capsys.readouterr().err
    assert keys.main(["revoke", "desk", "--file", str(file)]) == 0


@pytest.mark.parametrize("listen", ["0.0.0.0:1", "10.0.0.1:1", "[::]:1", "gateway:1", ":1"])
@pytest.mark.parametrize("which", ["http_listen", "listen"])
def test_keys_may_be_off_on_loopback_only(which, listen):
    with pytest.raises(InvalidInput, match="API keys are off"):
        Access(Settings(auth="off", **{which: listen}))
    assert Access(Settings(auth="keys", **{which: listen})).required


def test_nobody_signs_in_where_nobody_is_asked():
    with pytest.raises(InvalidInput, match="Set QUELEA_GATEWAY_AUTH=keys, or leave QUELEA_GATEWAY_OPENID_FILE empty"):
        Access(Settings(auth="off", openid_file="openid.toml"))


@pytest.mark.parametrize("listen", ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "unix:/tmp/x"])
def test_loopback(listen):
    assert is_loopback(listen)


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Basic x", "bearer no", "x" * 10_000, "Bearer \udcff"]
)
def test_what_is_no_key(tmp_path, authorization):
    file = tmp_path / "keys.json"
    key = keys.create(file, "desk")
    access = Access(Settings(keys_file=str(file)))
    with pytest.raises(Unauthenticated):
        access.admit(authorization)
    assert access.admit(f"bearer {key}") == Principal.unbounded("desk")


def test_metadata_for_files_by_position_name_or_all():
    by_name = metadata_for(["a", "b"], [json.dumps({"b": {"title": "B"}})])
    assert [said.title for said in by_name] == ["", "B"]
    assert [said.title for said in metadata_for(["a", "b"], ['{"title": "T"}'])] == ["T", "T"]
    assert [said.title for said in metadata_for(["a"], [])] == [""]


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("FY2023 Q3", (2023, 3)),
        ("2023 Q3", (2023, 3)),
        ("FY2022", (2022, 0)),
        ("2023Q1", (2023, 1)),
        ("spring", (0, 0)),
    ],
)
def test_periods_are_read(period, expected):
    wire = metadata_for(["a"], [json.dumps({"period": period})])[0].wire()
    assert (wire.period.fiscal_year, wire.period.fiscal_quarter) == expected
    assert wire.period.label == period


def test_a_period_in_full():
    said = {"period": {"label": "FY2023 Q3", "fiscal_year": 2023, "fiscal_quarter": 3, "end_date": "2023-07-01"}}
    assert metadata_for(["a"], [json.dumps(said)])[0].wire().period.end_date == "2023-07-01"


@pytest.mark.parametrize(
    ("name", "clean"),
    [("a\tb\x00.txt", "ab.txt"), ("../x", "x"), ("..", "document"), ("", "document"), (None, "document"), ("a/", "a")],
)
def test_file_names(name, clean):
    assert clean_name(name) == clean
    assert len(clean_name("x" * 1000 + ".pdf")) == 255


@given(st.text(max_size=40), st.integers(0, 60), st.integers(0, 60))
def test_a_span_is_inside_its_text_or_none(text, start, end):
    span = span_of(text, start, end, None)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
