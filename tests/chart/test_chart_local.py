"""A cluster that reaches no registry: `make images`, images loaded by hand, values-local.yaml."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.chart_render import MATRIX, REPOSITORY, containers, pods, render


def _made_by_make_images() -> set[str]:
    """Repository:version of every image that deploy/images/services.py builds, as it says itself."""
    listing = "import services, redis_image, wheels\n"
    listing += "for one in services.IMAGES: print(one.name, wheels.project(one.folder)['version'])\n"
    listing += "print(redis_image.NAME, redis_image.version())"
    done = subprocess.run(
        [sys.executable, "-c", listing],
        cwd=REPOSITORY / "deploy/images",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {line.replace(" ", ":") for line in done.stdout.splitlines()}


def test_every_image_is_one_that_make_images_made_and_no_registry_is_asked() -> None:
    made = _made_by_make_images()
    seen = set()
    for name, pod in pods(render(MATRIX["local"])):
        for container in containers(pod):
            assert container["imagePullPolicy"] == "Never", name
            seen.add(container["image"])
    assert seen <= made
    # helm test's pods have the gateway's; the sandbox and evaluations are off; training is outside the cluster.
    assert {image.partition(":")[0] for image in made - seen} == {
        "quelea-sandbox",
        "quelea-evaluation",
        "quelea-training",
    }
    assert any("-test-" in name for name, _ in pods(render(MATRIX["local"])))


@pytest.mark.parametrize("program", ["redis-server", "redis-cli"])
def test_what_the_chart_runs_in_redis_is_in_the_image_made_here(program: str) -> None:
    recipe = (REPOSITORY / "deploy/images/redis_image.py").read_text(encoding="utf-8")
    (redis,) = [pod for name, pod in pods(render(MATRIX["local"])) if name.endswith("-redis")]
    main = redis["containers"][0]
    words = [main["command"][0], main["readinessProbe"]["exec"]["command"][0]]
    assert program in words
    assert f'"usr/local/bin/{program}"' in recipe
