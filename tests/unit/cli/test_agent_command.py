"""`quelea agent` on a real gateway with fake services behind it."""

import asyncio
import json
import sys
import threading

import pytest
import structlog
from quelea_cli import __main__ as command_line
from support.agent_stand import agent_standing
from support.agent_world import good


@pytest.fixture
def served():
    """The URL of a gateway with an agent, in a thread of its own."""
    ready, stop, found = threading.Event(), asyncio.Event(), {}

    async def serve():
        async with agent_standing() as parts:
            found.update(url=parts.url, parts=parts, loop=asyncio.get_running_loop())
            ready.set()
            await stop.wait()

    before = structlog.get_config()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # the gateway of this process must not print
    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    yield found
    found["loop"].call_soon_threadsafe(stop.set)
    thread.join(30)
    structlog.configure(**before)


@pytest.fixture
def run(monkeypatch, capsys, served):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["quelea", "agent", *arguments, "--url", served["url"]])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
            raise SystemExit(0)
        out = capsys.readouterr()
        return ended.value.code or 0, out.out, out.err

    return call


def test_a_run_is_shown_as_it_goes_and_its_files_are_saved(run, tmp_path):
    code, out, err = run("NVIDIA's trend?", "--out", str(tmp_path / "o"), "--notebook", str(tmp_path / "n.ipynb"))
    assert code == 0, err
    for expected in ("Plan", "Step 2 · code-exec", "plt.savefig", "190.17", "✓ 190.17", "execution · step 2", "sha256"):
        assert expected in out
    saved = sorted(path.name for path in (tmp_path / "o").iterdir())
    assert saved == ["bundle.quelea", "report.pdf", "step2-trend.png"]
    assert json.loads((tmp_path / "n.ipynb").read_text())["nbformat"] == 4


def test_list_show_replay_cancel_delete(run, served):
    code, out, _ = run("NVIDIA's trend?", "--json")
    run_id = json.loads(out)["id"]
    assert run_id in run("--list")[1]
    assert "190.17" in run("--show", run_id)[1]
    assert "Step 2 · code-exec" in run("--replay", run_id)[1]
    assert "ended already" in run("--cancel", run_id)[1]
    assert "Deleted" in run("--delete", run_id)[1]
    code, _, err = run("--show", run_id)
    assert code != 0
    assert "no such run" in err


def test_what_is_missing_is_said_in_a_line(run, served):
    served["parts"].stand.gateway.analyst.manager = None
    code, _, err = run("NVIDIA's trend?")
    assert code == 1
    assert err.count("\n") == 1
    assert "runner-image" in err
    assert run()[0] == 2


def test_a_terminal_is_not_commanded_by_output(run, served):
    served["parts"].model.says = good(code='```python\nprint("\\x1b[2Jgone\\x07 1")\n```')
    _, out, _ = run("NVIDIA's trend?")
    assert "\x1b" not in out
    assert "\x07" not in out
