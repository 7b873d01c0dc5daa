"""What the documentation tells readers to type or to set is there: commands, their options, make targets, settings."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import typer
from quelea_cli.__main__ import app
from quelea_evaluation.cli import app as evaluation
from quelea_training.cli import app as training

ROOT = Path(__file__).parents[3]
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
COMMAND = re.compile(r"(?:^|[`$(]|bin/)\s*quelea((?: [^`\n|;&#]+))", re.MULTILINE)
Options = dict[tuple[str, ...], set[str]]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def options_of(command: object, path: tuple[str, ...] = ()) -> Options:
    """Every command below this one, with its options."""
    own = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}  # type: ignore[attr-defined]  # click's
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    below = {name: command.get_command(None, name) for name in names}  # type: ignore[attr-defined]  # click's
    return {path: own | {"--help"}} | {k: v for n, c in below.items() for k, v in options_of(c, (*path, n)).items()}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The code of each page: what stands in backticks."""
    found = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in tracked("*.md")}
    assert len(found) > 20
    return {name: "\n".join(CODE.findall(text)) for name, text in found.items()}


def test_every_command_and_option_is_one_of_ours(pages: dict[str, str]) -> None:
    known = options_of(typer.main.get_command(app))
    known |= options_of(typer.main.get_command(evaluation), ("eval",))
    known |= options_of(typer.main.get_command(training), ("train",))
    known[("calibrate",)] = known["eval", "calibrate"]
    seen, wrong = 0, []
    for name, code in pages.items():
        for said in COMMAND.findall(code):
            words, path = said.split(), ()
            while words and (*path, words[0]) in known:
                path = (*path, words.pop(0))
            options = [word.partition("=")[0].rstrip(".,:)") for word in words if word.startswith("--")]
            seen += 1
            wrong += [f"{name}: quelea{said}"] if not path else []
            wrong += [f"{name}: quelea {' '.join(path)} has no {one}" for one in options if one not in known[path]]
    assert seen > 50
    assert wrong == []


def test_every_make_target_is_there(pages: dict[str, str]) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {(name, one) for name, code in pages.items() for one in re.findall(r"(?:^|`)make ([a-z-]+)", code, re.M)}
    assert len(named) > 20
    assert {(name, one) for name, one in named if one not in targets} == set()


def test_every_variable_and_metric_is_known_to_the_code(pages: dict[str, str]) -> None:
    code = "\n".join(
        path.read_text("utf-8", "ignore")
        for path in (*tracked("*.py", "*.sh", "*.yaml", "*.tpl", "*.toml"), ROOT / "Makefile", ROOT / ".ci/run")
    )
    fields = set(re.findall(r"^ +([a-z0-9_]+): ", code, re.MULTILINE))
    unknown = []
    for name, text in pages.items():
        for one in re.findall(r"\bQUELEA_[A-Z0-9_]*[A-Z0-9]\b", text):
            words = one.lower().split("_")[1:]
            is_field = any("_".join(words[at:]) in fields for at in range(1, len(words)))
            unknown += [f"{name}: {one}"] if one not in code and not is_field else []
        for one in re.findall(r"\bquelea_[a-z0-9_]+_(?:total|seconds|bytes|count|bucket)\b", text):
            unknown += [f"{name}: {one}"] if re.sub(r"_(total|count|bucket)$", "", one) not in code else []
    assert unknown == []


def test_every_folder_that_a_stranger_opens_says_what_it_is() -> None:
    top = {name.split("/")[0] for name in (str(one.relative_to(ROOT)) for one in tracked("*/*"))}
    rooms = [f"services/{one.name}" for one in (ROOT / "services").iterdir() if one.is_dir()]
    rooms += [f"libs/{one.name}" for one in (ROOT / "libs").iterdir() if one.is_dir()]
    wanted = (top - {".ci", ".github", "docs", "libs", "requirements", "services"}) | set(rooms)
    assert len(wanted) > 10
    assert {one for one in wanted if not (ROOT / one / "README.md").is_file()} == set()


def test_every_link_between_pages_leads_to_a_file() -> None:
    links = [
        (page, link)
        for page in tracked("*.md")
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", CODE.sub("", page.read_text("utf-8")))
        if "://" not in link and not link.startswith("mailto:")
    ]
    assert len(links) > 50
    assert [f"{page.relative_to(ROOT)}: {link}" for page, link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("folder", ["decisions", "experiments", "howto"])
def test_the_index_of_a_folder_names_every_page(folder: str) -> None:
    index = ROOT / "docs" / folder / "README.md"
    linked = set(re.findall(r"\]\(([^)/#]+\.md)\)", index.read_text("utf-8")))
    assert linked == {page.name for page in index.parent.glob("*.md")} - {"README.md"}


def doubled(found: list[str]) -> list[str]:
    return [one for one, count in Counter(found).items() if count > 1]


@pytest.mark.parametrize("folder", ["decisions", "experiments"])
def test_the_index_of_a_folder_names_a_page_once(folder: str) -> None:
    """A merge keeps both lines, where a title was changed on one side."""
    pages = re.findall(r"\]\(([^)/#]+\.md)\)", (ROOT / "docs" / folder / "README.md").read_text("utf-8"))
    assert doubled(pages) == []


def test_the_change_log_tells_a_change_once() -> None:
    entries = re.findall(r"^- (.{40})", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert len(entries) > 50
    assert doubled(entries) == []


def test_what_the_readme_of_the_tests_names_is_there() -> None:
    """Both ways: a folder that it does not name is one that a stranger has to guess at."""
    named = set(re.findall(r"^\| `([a-z0-9_]+)/`", (ROOT / "tests/README.md").read_text("utf-8"), re.MULTILINE))
    assert named == {one.relative_to(ROOT).parts[1] for one in tracked("tests/*/*")}


EVERYWHERE = {"__init__", "__main__", "service", "settings", "metrics", "wire", "testing", "bench", "version"}
"""docs/architecture.md says what these are, once for all services."""


@pytest.mark.parametrize("room", sorted(one.name for one in (ROOT / "services").iterdir() if one.is_dir()))
def test_every_module_of_a_service_has_its_place_in_the_readme(room: str) -> None:
    readme = (ROOT / "services" / room / "README.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_*]+)(?:\.py)?`", readme)) | set(re.findall(r"-m quelea_\w+\.(\w+)", readme))
    patterns = [re.escape(one).replace(r"\*", ".*") for one in named]
    modules = {one.stem for one in tracked(f"services/{room}/quelea_*/*.py") if len(one.relative_to(ROOT).parts) == 4}
    assert modules > {"__init__", "__main__"}
    lost = {one for one in modules - EVERYWHERE if not any(re.fullmatch(pattern, one) for pattern in patterns)}
    assert lost == set(), f"services/{room}/README.md, Where things are"


@pytest.mark.parametrize("room", ["kit", "fintext"])
def test_every_module_and_room_of_a_library_has_its_place_in_the_readme(room: str) -> None:
    home = ROOT / "libs" / room / f"quelea_{room}"
    named = set(re.findall(r"`([a-z_]+/?)`", (home.parent / "README.md").read_text("utf-8")))
    modules = tracked(f"libs/{room}/quelea_{room}/*.py")
    folders = {f"{one.parent.name}/" for one in modules if one.parent != home}
    wanted = {one.stem for one in modules if one.stem != "__init__"} | folders
    assert len(wanted) > 15
    assert wanted - named == set()


PRODUCT = ("cli", "client", "deploy", "evaluation", "libs", "services", "training")


@pytest.mark.parametrize(
    "room", [str(one.parent.relative_to(ROOT)) for one in tracked(*(f"{folder}/*README.md" for folder in PRODUCT))]
)
def test_every_module_that_the_table_of_a_readme_names_is_there(room: str) -> None:
    tables = re.findall(r"^\|.*", (ROOT / room / "README.md").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"`([a-z0-9_/]+\.py)`", "\n".join(tables))
    there = [f"/{one.relative_to(ROOT)}" for one in tracked("*.py") if one.is_relative_to(ROOT / room)]
    assert [one for one in named if not any(path.endswith(f"/{one}") for path in there)] == []


@pytest.mark.parametrize("room", ["gateway", "retriever"])
def test_every_room_of_a_service_is_named_in_the_readme_and_holds_few_modules(room: str) -> None:
    """Folders are what a stranger guesses by: each has its line, and none has more modules than one look takes in."""
    readme = (ROOT / "services" / room / "README.md").read_text("utf-8")
    home = ROOT / "services" / room / f"quelea_{room}"
    folders = {one.parent for one in tracked(f"services/{room}/quelea_{room}/**/*.py")} - {home}
    shown = [one.relative_to(home) for one in folders if len(one.relative_to(home).parts) < 3]
    assert len(shown) > 4
    rooms = [one for one in shown if one.parts not in (("core",), ("adapters",), ("rest",))]
    assert [str(one) for one in rooms if f"`{one}/`" not in readme] == []
    counts = {one: len([*one.glob("[!_]*.py")]) for one in folders | {home}}
    assert {one.name: count for one, count in counts.items() if count > 20} == {}
    named = re.findall(r"`((?:core|adapters|rest)/[a-z_/]+(?:\.py|/))`", readme)
    assert [one for one in named if not (home / one).exists()] == []
