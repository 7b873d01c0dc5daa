"""The store of runs: what a kill leaves, what is refused, and what goes on."""

import json
from pathlib import Path

import pytest
from quelea_evaluation.reports.store import BadRun, RowFile, RowIndex, RunFolder, read_manifest

SETTINGS = {"model": "m", "k": 5}
DATA = {"questions": "abc"}


def test_a_run_goes_on_under_the_same_settings_and_under_no_others(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "a", "omni-run", SETTINGS, DATA) as run:
        run.rows("answers").append({"id": "1", "text": "是"})
    with RunFolder(tmp_path / "a", "omni-run", SETTINGS, DATA, {"concurrency": 9}) as run:
        assert run.rows("answers").done() == {"1"}
        run.finish({"answers": 1})
    manifest = read_manifest(tmp_path / "a", "omni-run")
    assert len(manifest["sessions"]) == 2
    assert manifest["finished"]["answers"] == 1
    with pytest.raises(BadRun, match=r"other settings: model \(model was 'm', is 'n'\)"):
        RunFolder(tmp_path / "a", "omni-run", {**SETTINGS, "model": "n"}, DATA)
    with pytest.raises(BadRun, match="other data: questions"):
        RunFolder(tmp_path / "a", "omni-run", SETTINGS, {"questions": "x"})
    with pytest.raises(BadRun, match="kind 'omni-run', wanted was 'arena'"):
        RunFolder(tmp_path / "a", "arena", SETTINGS, DATA)


def test_a_run_from_before_a_setting_goes_on_as_if_it_had_had_the_only_value_of_that_time(tmp_path: Path) -> None:
    with RunFolder(tmp_path, "k", SETTINGS, DATA):
        pass
    with RunFolder(tmp_path, "k", {**SETTINGS, "processes": 1}, DATA, absent={"processes": 1}):
        pass
    with pytest.raises(BadRun, match="processes was 1, is 2"):
        RunFolder(tmp_path, "k", {**SETTINGS, "processes": 2}, DATA, absent={"processes": 1})


def test_two_runs_into_one_folder_are_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path, "k", SETTINGS, DATA), pytest.raises(BadRun, match="Another run writes into"):
        RunFolder(tmp_path, "k", SETTINGS, DATA)
    RunFolder(tmp_path, "k", SETTINGS, DATA).close()


def test_another_version_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"kind": "k", "format": 99}))
    with pytest.raises(BadRun, match="format 99, this version reads 1"):
        RunFolder(tmp_path, "k", SETTINGS, DATA)
    other = tmp_path / "other"
    other.mkdir()
    (other / "rows.jsonl").write_text("{}\n")
    with pytest.raises(BadRun, match=r"rows\.jsonl but no manifest"):
        RunFolder(other, "k", SETTINGS, DATA)
    with pytest.raises(BadRun, match="not the folder of a run"):
        read_manifest(tmp_path / "nothing")


@pytest.mark.parametrize("whole", [0, 1, 3])
def test_a_torn_line_is_taken_away(tmp_path: Path, whole: int) -> None:
    rows = RowFile(tmp_path / "r.jsonl")
    for at in range(whole):
        rows.append({"id": at})
    rows.close()
    with rows.path.open("ab") as file:
        file.write(b'{"id": 7, "text": "' + b"x" * 200_000)
    assert rows.done() == {str(at) for at in range(whole)}
    rows.append({"id": "new"})
    rows.close()
    assert [one["id"] for one in rows] == [*range(whole), "new"]


def test_a_broken_line_and_a_row_of_another_kind_are_named(tmp_path: Path) -> None:
    rows = RowFile(tmp_path / "r.jsonl")
    rows.path.write_text('{"id": 1}\nprose\n')
    with pytest.raises(BadRun, match="line 2 is no JSON"):
        list(rows)
    rows.path.write_text('{"name": 1}\n')
    with pytest.raises(BadRun, match="no field 'id'"):
        rows.done()


def test_a_row_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    rows = RowFile(tmp_path / "r.jsonl")
    rows.append({"id": 1})
    assert rows.path.stat().st_size > 0
    rows.close()


def test_the_last_line_of_a_file_of_others_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a"}\n{"id": "b"}')
    assert [row["id"] for row in RowFile(path)] == ["a"]
    theirs = RowFile(path, of_others=True)
    assert [row["id"] for row in theirs] == ["a", "b"]
    assert RowIndex(theirs).get("b") == {"id": "b"}


def test_an_index_reads_what_was_there_and_what_came_after(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "rows.jsonl")
    file.append({"id": "a", "text": "利润"})
    file.close()
    with file.path.open("ab") as torn:
        torn.write(b'{"id": "b", "te')
    index = RowIndex(file)
    index.append({"id": "c", "text": "third"})
    index.append({"id": "a", "text": "again"})
    assert (index.get("b"), index.get("c"), index.get("a")) == (
        None,
        {"id": "c", "text": "third"},
        {"id": "a", "text": "again"},
    )
    assert [row["text"] for row in RowIndex(file).latest()] == ["third", "again"]
