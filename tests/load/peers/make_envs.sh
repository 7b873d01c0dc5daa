#!/bin/sh
# Environments of what Quelea is compared with, in a folder outside the checkout; nothing here depends on them.
#   tests/load/peers/make_envs.sh FOLDER
#   make load ARGS="--peer FOLDER/hayhooks"
#   .venv/bin/python tests/load/peers/infinity.py FOLDER/infinity
#   .venv/bin/python -m quelea_sandbox.bench --llm-sandbox FOLDER/llm-sandbox/bin/python
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for name in hayhooks infinity llm-sandbox; do
    python3 -m venv "$1/$name"
    "$1/$name/bin/pip" install -q -r "$here/$name.txt"
done
