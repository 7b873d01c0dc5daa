"""What a user would take instead of the gateway: hayhooks with haystack, over the same mocks.

Search, a prompt, a generator that streams: no gate, no check, no citations. QUELEA_PEER_MOCKS is the mocks' address.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import grpc
from hayhooks import BasePipelineWrapper, async_streaming_generator, get_last_user_message
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.dataclasses import StreamingChunk
from quelea.generator.v1 import generator_pb2, generator_pb2_grpc
from quelea.retriever.v1 import retriever_pb2, retriever_pb2_grpc

SHOWN = 6
"""Passages in the prompt, as many as the gateway gives its reader."""
TEMPLATE = """Answer the question from the sources, citing them as [n].
{% for document in documents %}[{{ loop.index }}] {{ document.meta.title }}, page {{ document.meta.page }}
{{ document.content }}
{% endfor %}
Question: {{ question }}"""


def mocks() -> grpc.aio.Channel:
    """A channel to the mocks."""
    return grpc.aio.insecure_channel(os.environ["QUELEA_PEER_MOCKS"])


@component
class Retriever:
    """Passages of the mocks' Search as documents."""

    def __init__(self) -> None:
        self._stub: Any = None

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Never called: the pipeline runs asynchronously."""
        raise NotImplementedError

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str) -> dict[str, Any]:
        """The best passages."""
        self._stub = self._stub or retriever_pb2_grpc.RetrieverServiceStub(mocks())
        found = await self._stub.Search(retriever_pb2.SearchRequest(query=query, k=20), timeout=30)
        return {
            "documents": [
                Document(
                    content=one.passage.text,
                    meta={"title": one.metadata.title, "page": one.passage.page},
                    score=one.score,
                )
                for one in found.passages[:SHOWN]
            ]
        }


@component
class Generator:
    """The mocks' Generate, piece by piece."""

    def __init__(self) -> None:
        self._stub: Any = None

    @component.output_types(replies=list[str])
    def run(
        self,
        prompt: str,
        documents: list[Document],
        streaming_callback: Callable[[StreamingChunk], Awaitable[None]] | None = None,
    ) -> dict[str, Any]:
        """Never called: the pipeline runs asynchronously."""
        raise NotImplementedError

    @component.output_types(replies=list[str])
    async def run_async(
        self,
        prompt: str,
        documents: list[Document],
        streaming_callback: Callable[[StreamingChunk], Awaitable[None]] | None = None,
    ) -> dict[str, Any]:
        """The answer; each piece goes to the callback as it comes."""
        self._stub = self._stub or generator_pb2_grpc.GeneratorServiceStub(mocks())
        evidence = [
            generator_pb2.Evidence(number=at, text=one.content or "") for at, one in enumerate(documents, start=1)
        ]
        text = []
        async for event in self._stub.Generate(
            generator_pb2.GenerateRequest(question=prompt, evidence=evidence, gather_ms=20), timeout=60
        ):
            if event.WhichOneof("event") == "delta":
                text.append(event.delta.text)
                if streaming_callback:
                    await streaming_callback(StreamingChunk(content=event.delta.text))
        return {"replies": ["".join(text)]}


class PipelineWrapper(BasePipelineWrapper):
    """The model `assistant` of hayhooks' OpenAI-compatible route."""

    def setup(self) -> None:
        """Retriever, prompt, generator."""
        self.pipeline = Pipeline()
        self.pipeline.add_component("retriever", Retriever())
        self.pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables=["documents", "question"]))
        self.pipeline.add_component("generator", Generator())
        self.pipeline.connect("retriever.documents", "prompt.documents")
        self.pipeline.connect("retriever.documents", "generator.documents")
        self.pipeline.connect("prompt.prompt", "generator.prompt")

    async def run_chat_completion_async(
        self, model: str, messages: list[dict[str, Any]], body: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """The answer to the last message, streamed."""
        question = get_last_user_message(messages)
        return async_streaming_generator(
            pipeline=self.pipeline,
            pipeline_run_args={"retriever": {"query": question}, "prompt": {"question": question}},
        )
