"""How long text waits for more: what the caller asks for, within bounds."""

import pytest
from quelea.generator.v1 import generator_pb2 as pb
from quelea_generator.wire import to_gather


@pytest.mark.parametrize(("asked", "seconds"), [(0, 0.02), (5, 0.005), (50, 0.05), (100, 0.1), (60_000, 0.1)])
def test_the_caller_s_wish_is_bounded(asked: int, seconds: float) -> None:
    assert to_gather(pb.GenerateRequest(gather_ms=asked)) == seconds
