"""`quelea up --sign-in`: who names a provider wants everybody to sign in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quelea_cli.commands import stack
from quelea_cli.errors import EXIT_USAGE
from quelea_cli.stack.home import Home
from quelea_cli.stack.plan import Options, plan

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """The options of stacks that would have started."""
    found: list[Options] = []
    monkeypatch.setattr(stack, "serve", lambda _home, options, *_, **__: found.append(options))
    return found


@pytest.mark.parametrize("by", ["option", "variable"])
def test_naming_a_provider_turns_keys_on(
    by: str, tmp_path: Path, run: Run, started: list[Options], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "openid.toml"
    file.touch()
    if by == "variable":
        monkeypatch.setenv("QUELEA_GATEWAY_OPENID_FILE", str(file))
    code, _, err = run("up", "--home", tmp_path, *(("--sign-in", file) if by == "option" else ()))
    assert code == 0, err
    assert (started[0].auth, started[0].sign_in) == (True, file)


def test_without_one_they_are_off_on_loopback(tmp_path: Path, run: Run, started: list[Options]) -> None:
    assert run("up", "--home", tmp_path)[0] == 0
    assert (started[0].auth, started[0].sign_in) == (False, None)


def test_a_provider_that_nobody_has_to_ask_is_refused(tmp_path: Path, run: Run, started: list[Options]) -> None:
    file = tmp_path / "openid.toml"
    file.touch()
    code, _, err = run("up", "--home", tmp_path, "--sign-in", file, "--no-auth")
    assert code == EXIT_USAGE
    assert "nobody has to sign in" in err
    assert run("up", "--home", tmp_path, "--sign-in", tmp_path / "none.toml")[0] == EXIT_USAGE
    assert started == []


def test_the_gateway_is_told_where_the_file_is(tmp_path: Path) -> None:
    home, file = Home(tmp_path), tmp_path / "openid.toml"
    with home.locked():
        chosen = Options(host="127.0.0.1", port=8080, auth=True, model="m", reader={}, sign_in=file)
        told = next(one.env for one in plan(home, chosen, {}) if one.name == "gateway")
    assert told["QUELEA_GATEWAY_OPENID_FILE"] == str(file)
    assert told["QUELEA_GATEWAY_AUTH"] == "keys"
