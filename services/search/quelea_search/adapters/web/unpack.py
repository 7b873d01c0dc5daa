"""gzip and deflate in pieces of bounded size: a few kilobytes that unpack to gigabytes never fill the memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

PIECE = 64 * 1024
"""Unpacked bytes that exist at once, besides what the caller keeps."""
_ANY_HEADER = zlib.MAX_WBITS | 32
_GZIP = b"\x1f\x8b"


class Unpacker:
    """gzip, also of several members, and zlib.

    Args:
        bare_allowed: Whether the stream may lack its header, as many servers send deflate.
    """

    def __init__(self, *, bare_allowed: bool) -> None:
        self._bare_allowed = bare_allowed
        self._inflate = zlib.decompressobj(_ANY_HEADER)

    def feed(self, packed: bytes) -> Iterator[bytes]:
        """What some more bytes unpack to, in pieces of at most PIECE bytes. Raises zlib.error."""
        piece = b""
        while packed or len(piece) == PIECE:
            if self._inflate.eof:
                if not packed.startswith(_GZIP):
                    return  # padding after the last member
                self._inflate = zlib.decompressobj(_ANY_HEADER)
            piece = self._step(packed)
            packed = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            if piece:
                yield piece

    def _step(self, packed: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(packed, PIECE)
        except zlib.error:
            if not self._bare_allowed:
                raise
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            piece = self._inflate.decompress(packed, PIECE)
        self._bare_allowed = False
        return piece
