"""Settings of the retriever, from environment variables QUELEA_RETRIEVER_<FIELD>."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from quelea_kit.settings import ServiceSettings, settings_config


class Settings(ServiceSettings):
    """Settings of the retriever."""

    model_config = settings_config("retriever")

    embedder: str = "127.0.0.1:50051"
    """Address of the embedder, host:port or any gRPC target."""

    next_embedder: str = ""
    """Address of a second embedder, with the model that the knowledge base is being re-embedded with. Queries go to
    the one whose model the live collection has. Empty: none."""

    ranker_file: str = ""
    """Weights of the ranking's second stage, as `quelea train ranker` writes them; read again when it changes.
    Empty: the packaged ones."""

    next_ranker_file: str = ""
    """The weights for the encoder of `next_embedder`. Each search takes those of the encoder that its collection has.
    Empty: none."""

    model_set: str = ""
    """Folder of the set of models in use (`quelea models`): its ranker.json is read where ranker_file is empty, from
    the moment it is there. Empty: none."""

    embed_timeout_seconds: float = 60.0
    """Longest wait for one embedding; a caller's own deadline wins when it is nearer."""

    embedder_wait_seconds: float = 20.0
    """How long a call waits for an embedder that is away, as in its restart, within its deadline; 0: not at all."""

    store: Literal["qdrant_edge", "qdrant"] = "qdrant_edge"
    """qdrant_edge: Qdrant's engine in this process, data under data_dir. qdrant: a server or cluster at qdrant_url."""

    data_dir: Path = Path("data/retriever")
    """Folder of the embedded store. One process at a time owns it."""

    sync_writes: bool = True
    """Embedded store: fsync the write-ahead log before a write is acknowledged, so that it survives a power failure.
    Off, it still survives the death of the process."""

    flush_points: int = 2000
    """Embedded store: flush the write-ahead log into the segments after this many written points."""

    index_above: int = 50_000
    """Embedded store: with more passages than this an HNSW index is built, in a process of its own; below, every
    vector is compared. 0 turns the index off."""

    hnsw_ef: int = 256
    """Breadth of an HNSW search: higher finds more of the true neighbours and takes longer."""

    qdrant_url: str = "http://127.0.0.1:6333"
    """Address of the Qdrant server; ":memory:" is for tests."""

    qdrant_api_key: str = ""
    """Key of the Qdrant server; empty sends none."""

    qdrant_ca: str = ""
    """File of the CA that signed the certificate of a Qdrant at https://; empty: the usual ones."""

    qdrant_collection: str = "quelea"
    """Name of the knowledge base on the server: its alias is this with "-live" behind it, its collections begin with
    it."""

    qdrant_prefer_grpc: bool = False
    """Speak gRPC with Qdrant (port 6334) rather than HTTP."""

    qdrant_timeout_seconds: int = 30
    """Longest wait for one answer of Qdrant."""

    qdrant_shard_number: int = 1
    """Shards of a collection that is made; spreads it over the nodes of a cluster."""

    qdrant_replication_factor: int = 1
    """Copies of each shard of a collection that is made; 2 or more survives the loss of a node."""

    qdrant_write_consistency_factor: int = 1
    """Copies that must have a write before it is acknowledged."""

    qdrant_on_disk: bool = False
    """Keep vectors on disk, not in memory, in a collection that is made."""

    qdrant_quantization: Literal["none", "int8"] = "none"
    """int8 keeps a quarter of the vectors' memory and rescores with the originals, in a collection that is made."""

    catalogue_ttl_seconds: float = 2.0
    """Server store: how often to look whether another replica committed or deleted a document."""

    retire_grace_seconds: float = 10.0
    """Server store: how long the passages of a replaced version stay, for replicas that have not noticed yet. Must
    be longer than catalogue_ttl_seconds."""

    orphan_seconds: float = 3600.0
    """Uncommitted passages are removed when nothing was written to their version for this long."""

    header: bool = True
    """Index a contextual header (company, type, period, section) with every passage. Off only to measure its worth:
    a store is one or the other."""

    default_k: int = 10
    """Passages returned when the caller does not say."""

    candidates: int = 200
    """Passages taken from each of the dense and the sparse search, of each group, for the ranking."""

    max_query_chars: int = 4000
    """Longest query, in characters."""

    max_upsert_passages: int = 2000
    """Most passages of one Upsert request."""

    max_collections: int = 8
    """Most entry collections; the catalogue of tools is one."""

    max_entries: int = 20_000
    """Most entries of a collection."""

    max_rank_candidates: int = 500
    """Most texts of one Rank request."""

    max_passage_chars: int = 20_000
    """Longest text of one passage or of one Rank candidate, with its header, in characters."""

    @property
    def ranker_files(self) -> list[Path]:
        """Those that are named."""
        return [Path(name) for name in (self.ranker_file, self.next_ranker_file) if name]
