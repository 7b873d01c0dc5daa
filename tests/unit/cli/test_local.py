"""Backup, restore, keys, the processes' plan and the log lines: no service needed."""

from __future__ import annotations

import importlib.util
import io
import json
import random
import socket
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quelea_cli.commands.stack import Reader, model_file, reader_settings, sample_folder
from quelea_cli.errors import EXIT_USAGE, CliError
from quelea_cli.stack import logs as logging
from quelea_cli.stack.home import Home
from quelea_cli.stack.logs import Logs, readable
from quelea_cli.stack.model import Service
from quelea_cli.stack.plan import Options, plan, url_of
from quelea_cli.stack.ports import free_ports, is_free, is_loopback
from quelea_evaluation.endpoints.client import Address, read_address
from quelea_evaluation.publishing.worker import READY

Run = Callable[..., tuple[int, str, str]]
EVERYWHERE = "0.0.0.0"  # noqa: S104  # handed to code that must refuse it


def filled(root: Path) -> Home:
    home = Home(root)
    home.create()
    (home.index / "segments").mkdir()
    (home.index / "segments/a.bin").write_bytes(b"\x00\x01")
    (home.documents / "报告.pdf").write_bytes(b"%PDF")
    home.keys.write_text('{"keys": []}')
    (home.logs / "gateway.log").write_text("secret of yesterday")
    return home


def test_a_backup_restores_everything_but_logs(tmp_path: Path, run: Run) -> None:
    filled(tmp_path / "old")
    archive = tmp_path / "b.tar.gz"
    assert run("backup", archive, "--home", tmp_path / "old")[0] == 0
    code, out, _ = run("restore", archive, "--home", tmp_path / "new", "--json")
    assert code == 0
    assert json.loads(out) == {"home": str(tmp_path / "new")}
    new = Home(tmp_path / "new")
    assert (new.index / "segments/a.bin").read_bytes() == b"\x00\x01"
    assert (new.documents / "报告.pdf").read_bytes() == b"%PDF"
    assert new.keys.exists()
    assert not any(new.logs.iterdir())


def test_a_running_stack_is_not_backed_up_and_data_are_not_overwritten(tmp_path: Path, run: Run) -> None:
    home = filled(tmp_path / "old")
    archive = tmp_path / "b.tar.gz"
    with home.locked():
        code, _, err = run("backup", archive, "--home", home.root)
    assert (code, "already runs" in err) == (1, True)
    assert run("backup", archive, "--home", home.root)[0] == 0
    code, _, err = run("restore", archive, "--home", home.root)
    assert (code, "already holds data" in err) == (EXIT_USAGE, True)
    assert run("backup", archive, "--home", tmp_path / "none")[0] == EXIT_USAGE


def test_an_archive_that_is_none_of_ours_changes_nothing(tmp_path: Path, run: Run) -> None:
    for name, member in (("empty", None), ("other", "evil"), ("climb", "../outside")):
        archive = tmp_path / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            if member:
                entry = tarfile.TarInfo(member)
                entry.size = 1
                tar.addfile(entry, io.BytesIO(b"x"))
        assert run("restore", archive, "--home", tmp_path / "new")[0] == 1
    (tmp_path / "no.tar.gz").write_bytes(b"not an archive")
    assert run("restore", tmp_path / "no.tar.gz", "--home", tmp_path / "new")[0] == 1
    assert not (tmp_path / "outside").exists()


def test_keys_are_made_listed_and_revoked(tmp_path: Path, run: Run) -> None:
    code, key, _ = run("keys", "create", "desk", "--home", tmp_path)
    assert code == 0
    assert len(key.strip()) > 30
    assert key.strip() not in Home(tmp_path).keys.read_text()
    assert run("keys", "create", "desk", "--home", tmp_path)[0] == 1
    assert run("keys", "list", "--home", tmp_path)[1].startswith("desk\t")
    assert run("keys", "revoke", "desk", "--home", tmp_path)[0] == 0
    assert run("keys", "list", "--home", tmp_path)[1] == ""


def test_down_and_status_without_a_stack(tmp_path: Path, run: Run) -> None:
    assert run("down", "--home", tmp_path / "none") == (0, f"No stack runs in {tmp_path / 'none'}.\n", "")
    assert json.loads(run("status", "--home", tmp_path, "--json")[1]) == {
        "running": False,
        "url": "",
        "services": {},
    }
    assert not (tmp_path / "none").exists()


def test_up_refuses_what_cannot_work(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("up", "--home", tmp_path, "--port", port)
        assert (code, f"Port {port} on 127.0.0.1 is in use" in err) == (1, True)
    assert run("up", "--home", tmp_path, "--host", EVERYWHERE, "--no-auth")[0] == EXIT_USAGE
    with Home(tmp_path).locked():
        code, _, err = run("up", "--home", tmp_path, "--port", 0)
        assert (code, "already runs in" in err) == (1, True)
        assert run("up", "--home", tmp_path, "--port", 0, "--detach")[0] == 1


def test_the_reader_is_chosen_by_options() -> None:
    assert reader_settings(Reader.extractive, "", "", "sk-of-another-tool") == {}
    assert reader_settings(Reader.openai, "http://x/v1", "m", "k") == {
        "QUELEA_GENERATOR_ENDPOINT": "http://x/v1",
        "QUELEA_GENERATOR_MODEL": "m",
        "QUELEA_GENERATOR_API_KEY": "k",
    }
    for reader, url, model in ((Reader.openai, "", "m"), (Reader.openai, "u", ""), (Reader.extractive, "u", "")):
        with pytest.raises(CliError):
            reader_settings(reader, url, model, "")


def test_ollama_needs_a_model_alone_and_answers_without_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUELEA_GENERATOR_EXTRA_BODY", raising=False)
    made = reader_settings(Reader.ollama, "", "qwen3:8b", "")
    assert (made["QUELEA_GENERATOR_ENDPOINT"], made["QUELEA_GENERATOR_MODEL"]) == (
        "http://127.0.0.1:11434/v1",
        "qwen3:8b",
    )
    assert made["QUELEA_GENERATOR_EXTRA_BODY"] == '{"reasoning_effort": "none"}'
    monkeypatch.setenv("QUELEA_GENERATOR_EXTRA_BODY", "{}")
    assert reader_settings(Reader.ollama, "http://gpu:1/v1", "m", "")["QUELEA_GENERATOR_EXTRA_BODY"] == "{}"
    with pytest.raises(CliError, match="--openai-model"):
        reader_settings(Reader.ollama, "", "", "")


def test_the_plan_wires_the_services_together(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    options = Options("127.0.0.1", 8080, False, "/m", {"QUELEA_GENERATOR_MODEL": "x"})
    services = {
        one.name: one for one in plan(home, options, {"QUELEA_RETRIEVER_DEFAULT_K": "7", "OMP_NUM_THREADS": "9"})
    }
    ports = [one.port for one in services.values() if one.port]
    assert len(set(ports)) == len(ports) == 6
    env = {name: one.env for name, one in services.items()}
    for service, variable, other in (
        ("retriever", "QUELEA_RETRIEVER_EMBEDDER", "embedder"),
        ("search", "QUELEA_SEARCH_RETRIEVER", "retriever"),
        ("worker", "QUELEA_SEARCH_RETRIEVER", "retriever"),
        ("gateway", "QUELEA_GATEWAY_RETRIEVER", "retriever"),
        ("gateway", "QUELEA_GATEWAY_SEARCH", "search"),
        ("gateway", "QUELEA_GATEWAY_GENERATOR", "generator"),
    ):
        assert env[service][variable] == f"127.0.0.1:{services[other].port}"
    assert env["search"]["QUELEA_SEARCH_REDIS_URL"] == env["worker"]["QUELEA_SEARCH_REDIS_URL"]
    assert env["search"]["QUELEA_SEARCH_LISTEN"] != env["worker"]["QUELEA_SEARCH_LISTEN"]
    assert env["gateway"]["QUELEA_GATEWAY_AUTH"] == "off"
    assert env["generator"]["QUELEA_GENERATOR_MODEL"] == "x"
    assert env["retriever"]["QUELEA_RETRIEVER_DEFAULT_K"] == "7"
    assert env["embedder"]["OMP_NUM_THREADS"] == "9"
    order = sorted(services, key=lambda name: services[name].stop_group)
    assert order[0] == "gateway"
    assert order[-1] == "redis"
    config = home.run / "redis.conf"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert "appendonly yes" in config.read_text()
    assert all("requirepass" not in " ".join(one.command) for one in services.values())


def test_evaluations_are_done_by_a_worker_that_may_ask_the_readers_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    worker = planned(home, gguf=tmp_path / "some-model.gguf")["evaluation"]
    engine = planned(home, gguf=tmp_path / "some-model.gguf")["generator"].env["QUELEA_GENERATOR_ENDPOINT"]
    assert worker.env["QUELEA_EVAL_MODELS"].rpartition(":")[0] == f"some-model=some-model@{engine}".rpartition(":")[0]
    assert worker.env["QUELEA_EVAL_API_KEY"]
    assert str(home.questions) in worker.command
    assert worker.ready_line == READY
    named = {"QUELEA_EVAL_MODELS": "judge=m@http://gpu:1/v1", "QUELEA_EVAL_API_KEY": "theirs"}
    env = planned(home, named, gguf=tmp_path / "some-model.gguf")["evaluation"].env
    assert {name: env[name] for name in named} == named
    assert "QUELEA_EVAL_MODELS" not in planned(home)["evaluation"].env


def test_without_the_evaluation_the_page_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quelea_cli.stack.evaluation.PACKAGE", "quelea_no_such_package")
    services = planned(Home(tmp_path))
    assert "evaluation" not in services
    assert "make setup" in services["gateway"].env["QUELEA_GATEWAY_EVALUATIONS_ADVICE"]


def planned(home: Home, environment: dict[str, str] | None = None, **options: Any) -> dict[str, Service]:
    home.create()
    wanted = Options("127.0.0.1", 8080, False, "/m", {}, **options)
    return {one.name: one for one in plan(home, wanted, environment or {})}


def test_a_model_of_this_machine_is_a_service_with_a_key_of_its_own(tmp_path: Path) -> None:
    model = tmp_path / "some-model.gguf"
    services = planned(Home(tmp_path), {"QUELEA_GENERATOR_MAX_TOKENS": "99"}, gguf=model)
    engine, generator = services["engine"], services["generator"].env
    assert engine.start_group < services["generator"].start_group
    assert engine.env["QUELEA_ENGINE_MODEL"] == str(model)
    assert generator["QUELEA_GENERATOR_ENDPOINT"] == f"http://127.0.0.1:{engine.port}/v1"
    assert generator["QUELEA_GENERATOR_MODEL"] == engine.env["QUELEA_ENGINE_NAME"] == "some-model"
    assert generator["QUELEA_GENERATOR_API_KEY"] == engine.env["QUELEA_ENGINE_API_KEY"] != ""
    assert generator["QUELEA_GENERATOR_MAX_TOKENS"] == "99"
    note = Home(tmp_path).model
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    for option in ("--judge", "--system"):
        assert read_address("stack", option, tmp_path) == Address(
            "some-model", generator["QUELEA_GENERATOR_ENDPOINT"], generator["QUELEA_GENERATOR_API_KEY"]
        )
    assert "engine" not in planned(Home(tmp_path))
    assert not note.exists()


def test_a_model_that_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    with pytest.raises(CliError, match="make engine-cpu"):
        model_file(Reader.llama, tmp_path / "none.gguf")
    with pytest.raises(CliError, match="--gguf needs --reader llama"):
        model_file(Reader.extractive, tmp_path / "some.gguf")
    assert model_file(Reader.extractive, None) is None
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(CliError, match=r"llama.cpp is not installed; .*`make engine-cpu`"):
        model_file(Reader.llama, None)


def test_no_question_leaves_the_machine_unasked(tmp_path: Path) -> None:
    services = planned(Home(tmp_path))
    assert "sample-web" not in services
    assert "beat" not in services
    for one in services.values():
        assert not any(name.startswith("QUELEA_SEARCH_WEB") for name in one.env)
    assert planned(Home(tmp_path), web=True)["search"].env["QUELEA_SEARCH_WEB"] == "true"
    kept = planned(Home(tmp_path), {"QUELEA_SEARCH_WEB": "1"})
    assert kept["worker"].env["QUELEA_SEARCH_WEB"] == "1"
    assert kept["beat"].command[-1] == "quelea_search.beat"
    assert kept["beat"].ready_line


def test_the_sample_web_is_all_that_a_stack_with_it_can_read(tmp_path: Path) -> None:
    home = Home(tmp_path)
    services = planned(home, {"QUELEA_SEARCH_BRAVE_KEY": "k"}, sample_web=tmp_path / "web")
    sample = services["sample-web"]
    assert str(tmp_path / "web") in sample.command
    assert sample.start_group < services["search"].start_group
    for name in ("search", "worker"):
        env = services[name].env
        assert env["QUELEA_SEARCH_WEB"] == "true"
        assert env["QUELEA_SEARCH_ENVIRONMENT"] == "test"
        assert json.loads(env["QUELEA_SEARCH_WEB_PROVIDERS"]) == ["searxng"]
        assert env["QUELEA_SEARCH_SEARXNG_URL"] == f"http://127.0.0.1:{sample.port}"
        assert set(json.loads(env["QUELEA_SEARCH_WEB_TEST_HOSTS"]).values()) == {f"127.0.0.1:{sample.port}"}
        assert f"news.localhost:{sample.port}" in json.loads(env["QUELEA_SEARCH_WEB_TEST_HOSTS"])
        assert json.loads(env["QUELEA_SEARCH_PAGE_PORTS"]) == [sample.port]
        allowed = json.loads(env["QUELEA_SEARCH_ALLOW_HOSTS"])
        assert 0 < len(allowed) < len(json.loads(env["QUELEA_SEARCH_WEB_TEST_HOSTS"]))
    assert "QUELEA_SEARCH_ENVIRONMENT" not in services["gateway"].env
    assert float(services["gateway"].env["QUELEA_GATEWAY_RANK_SECONDS"]) > 15
    own = planned(home, {"QUELEA_GATEWAY_RANK_SECONDS": "3"}, sample_web=tmp_path / "web")
    assert own["gateway"].env["QUELEA_GATEWAY_RANK_SECONDS"] == "3"
    assert "QUELEA_GATEWAY_RANK_SECONDS" not in planned(home)["gateway"].env
    assert planned(home, sample_web=tmp_path / "web")["sample-web"].port == sample.port
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", sample.port))
        other.listen()
        assert planned(home, sample_web=tmp_path / "web")["sample-web"].port != sample.port


def test_a_sample_web_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="No sample web"):
        sample_folder(tmp_path)
    assert (sample_folder() / "site.json").is_file()


def test_addresses() -> None:
    assert url_of(Options(EVERYWHERE, 80, True, "", {})) == "http://127.0.0.1:80"
    assert url_of(Options("::1", 80, True, "", {})) == "http://[::1]:80"
    assert all(map(is_loopback, ("127.0.0.5", "localhost", "::1")))
    assert not any(map(is_loopback, (EVERYWHERE, "10.0.0.1", "::")))
    first, second = free_ports(2)
    assert first != second
    assert is_free("127.0.0.1", first)


def test_a_port_that_another_stack_has_chosen_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = free_ports(2)  # claimed by this process; nobody listens there yet
    (third,) = free_ports(1)
    numbers = iter([first, second, third, 0])
    monkeypatch.setattr(random.SystemRandom, "randrange", lambda *_: next(numbers))
    assert free_ports(1) == [0]


def test_log_files_are_bounded_and_the_terminal_gets_prefixed_readable_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "MAX_BYTES", 2000)
    terminal = io.StringIO()
    logs = Logs(tmp_path, terminal, "warning")
    for number in range(200):
        logs.line("search", json.dumps({"event": "e", "level": "info", "n": number, "text": "x" * 40}))
    logs.line("worker", json.dumps({"event": "job_failed", "level": "error", "job": "j1", "service": "search"}))
    logs.line("worker", '{"half')
    logs.close()
    assert terminal.getvalue() == "worker    │ job_failed  job=j1\n"
    assert sum(file.stat().st_size for file in tmp_path.glob("search.log*")) < 3 * 2000
    assert '"n": 199' in logs.tail("search")[-1]
    assert readable('{"half') == (20, '{"half')
    assert readable("[1]") == (20, "[1]")
