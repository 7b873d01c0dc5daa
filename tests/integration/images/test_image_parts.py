"""The recipe without an engine: an image is another one when anything in it is, and no torch for CUDA slips in."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

RECIPES = Path(__file__).parents[3] / "deploy" / "images"


@pytest.fixture(scope="module")
def recipe() -> Any:
    """deploy/images, which is no package: its modules import one another by their bare names."""
    sys.path.insert(0, str(RECIPES))
    try:
        import services

        yield services
    finally:
        sys.path.remove(str(RECIPES))


def _wheel(folder: Path, name: str, metadata: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{metadata}"
        )
    return wheel


def test_the_content_tells_images_apart(recipe: Any, tmp_path: Path) -> None:
    one, other = _wheel(tmp_path, "one"), _wheel(tmp_path, "other")
    file = tmp_path / "catalogue"
    file.write_text("a")
    parts = recipe.Parts(shared=[one], libraries=[], ours=[], files={"opt/file": file})
    before = parts.identity("base")
    assert parts.identity("base") == before
    assert parts.identity("another base") != before
    assert replace(parts, libraries=[other]).identity("base") != before
    assert replace(parts, files={"opt/elsewhere": file}).identity("base") != before
    file.write_text("b")
    assert parts.identity("base") != before


def test_a_torch_for_cuda_is_refused_unless_asked_for(
    recipe: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collect(name: str, *_: object) -> Path:
        _wheel(tmp_path / name, "grpcio")
        if name != "shared":
            _wheel(tmp_path / name, "torch")
            _wheel(tmp_path / name, "nvidia_cublas")
        return tmp_path / name

    monkeypatch.setattr(recipe.wheels, "_collect", collect)
    with pytest.raises(recipe.Unbuildable, match="PIP_EXTRA_INDEX_URL"):
        recipe.wheels.libraries("services/embedder")
    chosen = recipe.wheels.libraries("services/embedder", cuda=True)
    assert [wheel.name.split("-")[0] for wheel in chosen] == ["nvidia_cublas", "torch"]


def test_the_trainings_image_has_what_it_declares_and_starts_and_is_built_by_name_alone(recipe: Any) -> None:
    folders = recipe.wheels.needed("training")
    assert {"cli", "client", "evaluation", "libs/checker", "services/generator", "training"} <= set(folders)
    assert folders.index("client") < folders.index("cli") < folders.index("training")
    _, needs = recipe.wheels._name_needs("training", torch=False)
    # Of the training's own extra, of the evaluation's that it names, and of the client.
    assert {"torch", "trl", "scikit-learn", "httpx2"} <= set(needs)
    assert not [need for need in needs if need.startswith("quelea-")]
    assert [image.service for image in recipe.IMAGES if image.by_name] == ["training"]


def test_the_clients_wheel_has_what_its_build_makes(recipe: Any) -> None:
    names = zipfile.ZipFile(recipe.wheels.ours("client")).namelist()
    assert {"quelea/__init__.py", "quelea_client/client.py", "quelea_client/models.py"} <= set(names)


def test_torch_is_an_extra_of_the_embedders_image(recipe: Any) -> None:
    (plain, without), (extra, with_torch) = (
        recipe.wheels._name_needs("services/embedder", torch=torch) for torch in (False, True)
    )
    assert plain != extra
    assert set(with_torch) - set(without) == {"huggingface_hub", "sentence-transformers", "torch", "transformers"}
    assert recipe.wheels._name_needs("services/gateway", torch=True) == recipe.wheels._name_needs(
        "services/gateway", torch=False
    )


def test_a_wheel_that_no_lock_names_is_refused(recipe: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel, lock = _wheel(tmp_path / "wheels", "one"), tmp_path / "lock.txt"
    monkeypatch.setattr(recipe.wheels, "LOCKS", [lock])
    lock.write_text(f"one==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    recipe.wheels.check_hashes(wheel.parent)
    _wheel(wheel.parent, "one", "Summary: another file of the same name and version\n")
    with pytest.raises(recipe.Unbuildable, match=r"one-1\.0-py3-none-any\.whl: not a file that requirements/ names"):
        recipe.wheels.check_hashes(wheel.parent)


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ("License-Expression: MIT OR Apache-2.0\n", {"expression": "MIT OR Apache-2.0"}),
        ("License: MIT\n", {"license": {"id": "MIT"}}),
        (
            f"License: {'a whole licence text ' * 9}\nClassifier: License :: OSI Approved :: BSD License\n",
            {"license": {"name": "BSD License"}},
        ),
    ],
)
def test_the_sbom_says_each_licence_as_declared(
    recipe: Any, tmp_path: Path, metadata: str, licence: dict[str, Any]
) -> None:
    part = recipe.sbom.of_wheel(_wheel(tmp_path, "one", metadata))
    first, second = (json.loads(recipe.sbom.write("quelea-x", "1", "content", [part])) for _ in range(2))
    assert first == second
    assert first["components"][0]["licenses"] == [licence]
    assert first["components"][0]["purl"] == "pkg:pypi/one@1.0"
