"""Which processes make a stack, on which ports, with which settings."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quelea_kit.processes.redis_server import find_redis_server

from quelea_cli.stack.agent import gateway_settings, sandbox_service
from quelea_cli.stack.door import door_service, fetches, search_settings
from quelea_cli.stack.engine import engine_service, generator_settings, slow_model_settings
from quelea_cli.stack.evaluation import ADVICE, evaluation_service, is_installed
from quelea_cli.stack.home import Home, write_private
from quelea_cli.stack.model import Service
from quelea_cli.stack.model_set import adapter_for, settings_of
from quelea_cli.stack.ports import free_ports
from quelea_cli.stack.probes import LIVE, grpc_probe, http_probe, redis_probe
from quelea_cli.stack.web import LOOPBACK, PATIENCE, is_on, sample_port, sample_service, sample_settings

_READY_LINES = {"worker": "worker_ready", "beat": "beat_starts"}


@dataclass(frozen=True)
class Options:
    """What the user may choose."""

    host: str
    port: int
    auth: bool
    model: Path | str
    """The encoder's folder or hub name."""
    reader: Mapping[str, str]
    """Settings of the generator, by variable name."""
    log_level: str = "info"
    web: bool = False
    """Whether questions may leave this machine when the documents do not answer them."""
    sample_web: Path | None = None
    """Folder of the sample web, which then stands in for the internet."""
    gguf: Path | None = None
    """File of the language model that writes the answers on this machine; None: none is started."""
    tls: bool = False
    """Mutual TLS between the services."""
    agent: Path | None = None
    """Checkout whose catalogue of tools the agent uses; None: there is no agent."""
    sign_in: Path | None = None
    """File of the OpenID provider at which people sign in; None: keys alone."""
    fetch: bool = False
    """Whether filings are fetched from EDGAR and cninfo; also where the environment has a contact for the SEC."""


def url_of(options: Options) -> str:
    """Where the stack answers, as seen from this machine."""
    host = LOOPBACK if options.host in ("0.0.0.0", "::") else options.host  # noqa: S104  # compared, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{options.port}"


def plan(home: Home, options: Options, environment: Mapping[str, str]) -> list[Service]:
    """The processes of the stack. What the user has set in the environment wins, but for addresses and folders."""
    # Of one certificate for all nothing would be told apart; `tls` makes one for each. The secret is this start's.
    not_theirs = ("QUELEA_TLS_DIR", "QUELEA_STACK_SECRET")
    environment = {name: value for name, value in environment.items() if name not in not_theirs}
    shared = {} if options.tls else {"QUELEA_STACK_SECRET": _stack_secret(home)}
    names = ("redis", "embedder", "retriever", "search", "generator", "gateway")
    port = dict(zip(names, free_ports(len(names)), strict=True))
    at = {name: f"{LOOPBACK}:{number}" for name, number in port.items()}
    password = secrets.token_urlsafe(24)
    search = {
        "QUELEA_SEARCH_REDIS_URL": f"redis://:{password}@{at['redis']}/0",
        "QUELEA_SEARCH_BLOBS_URL": str(home.documents),
        "QUELEA_SEARCH_RETRIEVER": at["retriever"],
    }
    sample: list[Service] = []
    if options.sample_web:
        port_of_sample = sample_port(home)
        sample = [sample_service(options.sample_web, port_of_sample, environment)]
        search |= sample_settings(port_of_sample)
    elif options.web:
        search["QUELEA_SEARCH_WEB"] = "true"
    engine: list[Service] = []
    home.model.unlink(missing_ok=True)
    reader = dict(options.reader)
    if options.gguf:
        engine_port, key = free_ports(1)[0], secrets.token_urlsafe(24)
        of_engine = {**environment, **adapter_for(home, options.gguf)}
        engine = [engine_service(options.gguf, engine_port, key, of_engine)]
        reader |= generator_settings(options.gguf, engine_port, key, of_engine)
        _note_model(home, reader)
    agent, with_agent, with_door = _agent(home, options, {**environment, **shared})
    search |= with_door
    http = f"[{options.host}]:{options.port}" if ":" in options.host else f"{options.host}:{options.port}"

    def service(name: str, own: dict[str, str], *, module: str = "", stop_group: int) -> Service:
        owner = name if name in port else "search"
        prefix = f"QUELEA_{owner.upper()}"
        usual = {
            f"{prefix}_LOG_LEVEL": options.log_level,
            "OMP_NUM_THREADS": "1",  # a service that wants more says so to its own library
            "OPENBLAS_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "MALLOC_ARENA_MAX": "4",
            **(PATIENCE if options.sample_web else {}),
            **settings_of(home, name),
        }
        probe = grpc_probe(at[name]) if name in at else None
        live = grpc_probe(at[name], LIVE) if name in at else None
        if name == "gateway":
            probe = http_probe(f"{url_of(options)}/readyz")
            live = http_probe(f"{url_of(options)}/healthz")
        ours = {f"{prefix}_LISTEN": at.get(name, f"{LOOPBACK}:0"), **own}
        return Service(
            name=name,
            command=(sys.executable, "-m", module or f"quelea_{name}"),
            env={**usual, **environment, **shared, **ours, "PYTHONUNBUFFERED": "1"},
            probe=probe,
            live=live,
            ready_line="" if probe else _READY_LINES[name],
            port=options.port if name == "gateway" else port.get(name, 0),
            start_group=2,
            stop_group=stop_group,
        )

    web = is_on(options.web or bool(sample), environment)
    beat = [service("beat", search, module="quelea_search.beat", stop_group=2)] if web or with_door else []
    services = [
        _redis(home, port["redis"], password, environment),
        *sample,
        *engine,
        *agent,
        service("embedder", {"QUELEA_EMBEDDER_MODEL": str(options.model)}, stop_group=5),
        service(
            "retriever",
            {"QUELEA_RETRIEVER_EMBEDDER": at["embedder"], "QUELEA_RETRIEVER_DATA_DIR": str(home.index)},
            stop_group=4,
        ),
        service("search", search, stop_group=3),
        service("worker", search, module="quelea_search.worker", stop_group=2),
        *beat,
        service("generator", reader, stop_group=3),
        service(
            "gateway",
            {
                "QUELEA_GATEWAY_HTTP_LISTEN": http,
                "QUELEA_GATEWAY_RETRIEVER": at["retriever"],
                "QUELEA_GATEWAY_SEARCH": at["search"],
                "QUELEA_GATEWAY_GENERATOR": at["generator"],
                "QUELEA_GATEWAY_KEYS_FILE": str(home.keys),
                "QUELEA_GATEWAY_AUDIT_DIR": str(home.audit),
                "QUELEA_GATEWAY_EVALUATIONS_URL": str(home.evaluations),
                "QUELEA_GATEWAY_EVALUATIONS_ADVICE": "" if is_installed() else ADVICE,
                "QUELEA_GATEWAY_AUTH": "keys" if options.auth else "off",
                **(slow_model_settings(environment) if engine else {}),
                **({"QUELEA_GATEWAY_OPENID_FILE": str(options.sign_in)} if options.sign_in else {}),
                **with_agent,
            },
            stop_group=1,
        ),
        *([evaluation_service(home, url_of(options), reader, environment)] if is_installed() else []),
    ]
    if not options.tls:
        return services
    from quelea_cli.stack.secure import secure_services  # noqa: PLC0415  # cryptography loads slowly, and few need it

    return secure_services(home.run / "tls", services)


def _agent(
    home: Home, options: Options, environment: Mapping[str, str]
) -> tuple[list[Service], dict[str, str], dict[str, str]]:
    """The door and the sandbox, as far as they are wanted; the gateway's variables for them, and search's."""
    fetch = fetches(options.fetch, environment)
    if not options.agent and not fetch:
        return [], {}, {}
    door_port, sandbox_port = free_ports(2)
    services = [door_service(home, door_port, environment, options.log_level)]
    gateway = {"QUELEA_GATEWAY_MARKET": f"{LOOPBACK}:{door_port}"}
    if options.agent:
        services.append(sandbox_service(home, sandbox_port, options.agent, environment, options.log_level))
        gateway |= gateway_settings(home, sandbox_port)
    return services, gateway, search_settings(home, door_port) if fetch else {}


def _stack_secret(home: Home) -> str:
    """What the services show one another: on loopback every user of the machine reaches their ports."""
    secret = secrets.token_urlsafe(24)
    write_private(home.stack_secret, secret)
    return secret


def _note_model(home: Home, reader: Mapping[str, str]) -> None:
    """Where the language model is and its key, for the owner's eyes: both are new at each start, and nowhere else."""
    names = {"url": "ENDPOINT", "model": "MODEL", "key": "API_KEY"}
    found = {name: reader[f"QUELEA_GENERATOR_{setting}"] for name, setting in names.items()}
    write_private(home.model, json.dumps(found, indent=1) + "\n")


def _redis(home: Home, port: int, password: str, environment: Mapping[str, str]) -> Service:
    """Redis on loopback with a password of its own; what it has acknowledged survives a kill."""
    config = home.run / "redis.conf"
    write_private(
        config,
        "\n".join(
            (
                f"bind {LOOPBACK}",
                f"port {port}",
                f"requirepass {password}",
                f'dir "{home.redis}"',
                "appendonly yes",
                "appendfsync always",
                "aof-load-truncated yes",
                'save ""',
                "maxmemory-policy noeviction",
                "loglevel warning",
                "daemonize no",
                "",
            )
        ),
    )
    return Service(
        name="redis",
        command=(str(find_redis_server()), str(config)),
        env=environment,
        probe=redis_probe(port, password),
        port=port,
        start_group=1,
        stop_group=6,
    )
