"""What the trial of functions says of the model on board, against what it does when it is offered them."""

from __future__ import annotations

import contextlib

import pytest
from pydantic import SecretStr
from quelea_generator.adapters.function_calls import Wanted
from quelea_generator.adapters.openai_endpoint import OpenAIEndpoint
from quelea_generator.core.chat.chat_model import NO_FUNCTIONS, ChatPiece, ChatRequest, Function
from quelea_generator.core.chat.prompt import Message
from support.stack import Stack

from tests.llama.test_llama import engine_of

SEARCH = Function(
    "search_documents",
    "Searches the stored filings for passages.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
pytestmark = pytest.mark.slow(reason="a language model writes, on the CPU")


async def last_piece(product: Stack, wanted: Wanted) -> ChatPiece:
    engine = engine_of(product)
    model = engine["QUELEA_GENERATOR_MODEL"]
    chat = OpenAIEndpoint(
        engine["QUELEA_GENERATOR_ENDPOINT"],
        SecretStr(engine["QUELEA_GENERATOR_API_KEY"]),
        model,
        stall_seconds=120,
        function_calls=wanted,
    )
    asked = Message("user", "Find Apple's net sales in the quarter ended July 1, 2023. Call a function for it.")
    async with contextlib.aclosing(chat.stream(ChatRequest((asked,), model, 120, functions=(SEARCH,)))) as pieces:
        found = [piece async for piece in pieces]
    await chat.close()
    return next((piece for piece in found if piece.calls), found[-1])


async def test_the_trial_tells_the_truth(product: Stack) -> None:
    """Qwen2.5-Coder writes its calls as a JSON block into the text, which no server reads as calls."""
    offered = await last_piece(product, "yes")
    tried = await last_piece(product, "probe")
    assert (tried.finish != NO_FUNCTIONS) is bool(offered.calls)
    assert all(call.name == SEARCH.name for call in tried.calls)
