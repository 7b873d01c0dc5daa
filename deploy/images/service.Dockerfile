# Every service's image; the target is its name: docker build --target gateway -f service.Dockerfile CONTEXT.
# services.py makes the context (`make images`). For the classic builder: no heredocs, no RUN --mount, no COPY --link.
# BASE: any image with CPython 3.11 as python3, from rootfs.py (no registry needed) or a registry's (python:3.11-slim).
ARG BASE=quelea-base:latest

# What all services have: gRPC, telemetry, settings. The same layer in all images.
FROM ${BASE} AS shared
LABEL quelea.content=build
COPY install_service.py /build/
COPY pip /build/pip
COPY shared /build/wheels
RUN ["python3", "-I", "-B", "/build/install_service.py", "wheels", "/out"]

# What this one has beside it.
FROM ${BASE} AS libraries
LABEL quelea.content=build
COPY install_service.py /build/
COPY pip /build/pip
COPY libraries /build/wheels
RUN ["python3", "-I", "-B", "/build/install_service.py", "wheels", "/out"]

# Our own packages and files. A change of our code costs only this stage and its layer.
FROM ${BASE} AS ours
LABEL quelea.content=build
COPY install_service.py /build/
COPY pip /build/pip
COPY ours /build/wheels
RUN ["python3", "-I", "-B", "/build/install_service.py", "wheels", "/out"]
COPY files /build/files
RUN ["python3", "-I", "-B", "/build/install_service.py", "system", "/out"]

FROM ${BASE} AS whole
COPY --from=shared /out/ /
COPY --from=libraries /out/ /
COPY --from=ours /out/ /
# Where volumes go; empty, and the user's own, so that Docker gives a new volume to that user.
COPY --from=ours --chown=65532:65532 /volumes/ /
ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 TZ=UTC HOME=/tmp SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 MALLOC_ARENA_MAX=4 TOKENIZERS_PARALLELISM=false
USER 65532:65532
WORKDIR /tmp

# A service's own pool of threads is what computes at once.
FROM whole AS service
ENV OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

FROM service AS gateway
ENV QUELEA_GATEWAY_LISTEN=0.0.0.0:7400 QUELEA_GATEWAY_HTTP_LISTEN=0.0.0.0:8080 QUELEA_GATEWAY_RUNS_URL=/runs
EXPOSE 7400 8080
CMD ["python", "-m", "quelea_gateway"]

FROM service AS retriever
ENV QUELEA_RETRIEVER_LISTEN=0.0.0.0:7402 QUELEA_RETRIEVER_DATA_DIR=/data
EXPOSE 7402
CMD ["python", "-m", "quelea_retriever"]

FROM service AS generator
ENV QUELEA_GENERATOR_LISTEN=0.0.0.0:7404
EXPOSE 7404
CMD ["python", "-m", "quelea_generator"]

# Its other processes are other commands: python -m quelea_search.worker, quelea_search.beat, quelea_search.door.
FROM service AS search
ENV QUELEA_SEARCH_LISTEN=0.0.0.0:7403 QUELEA_SEARCH_BLOBS_URL=/blobs \
    QUELEA_MARKET_LISTEN=0.0.0.0:7406 QUELEA_MARKET_DATA_DIR=/data QUELEA_MARKET_SOCKET=/tmp/door.sock
EXPOSE 7403 7406
CMD ["python", "-m", "quelea_search"]

FROM service AS agent-sandbox
ENV QUELEA_SANDBOX_LISTEN=0.0.0.0:7405 QUELEA_SANDBOX_TOOLS_FILE=/opt/quelea/catalogue.jsonl
EXPOSE 7405
CMD ["python", "-m", "quelea_sandbox"]

# No service: a job has its command (`python -m quelea_evaluation work --once …`); by itself it lists its commands.
FROM service AS evaluation
CMD ["python", "-m", "quelea_evaluation"]

# No service either, and all processors of its container are its own; it writes into /models alone.
FROM whole AS training
ENV HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
CMD ["python", "-m", "quelea_training"]

# The model is no part of it: python -m quelea_embedder.unpack --out /models/multilingual-e5-small fills a volume once.
FROM service AS embedder
ENV QUELEA_EMBEDDER_LISTEN=0.0.0.0:7401 QUELEA_EMBEDDER_MODEL=/models/multilingual-e5-small HF_HUB_OFFLINE=1
EXPOSE 7401
CMD ["python", "-m", "quelea_embedder"]
