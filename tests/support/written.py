"""What a language model is made to write, as the fake generator's events."""

from __future__ import annotations

from quelea.generator.v1 import generator_pb2


def written(text: str, *, reader: str = "openai", reason: str = "stop") -> list[generator_pb2.GenerateResponse]:
    """The text in pieces of one word, then the end."""
    events = [
        generator_pb2.GenerateResponse(delta=generator_pb2.TextDelta(text=piece))
        for piece in (word + " " for word in text.split(" "))
    ]
    last = events[-1].delta
    last.text = last.text.removesuffix(" ")
    end = generator_pb2.Finished(reason=reason, reader=reader, model="tiny", prompt_version="en-2", completion_tokens=9)
    return [*events, generator_pb2.GenerateResponse(finished=end)]
