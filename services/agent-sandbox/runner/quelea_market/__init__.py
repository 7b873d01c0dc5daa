"""The code's one way out: every HTTP(S) call goes through the market-data door, whichever library makes it.

Importing this package is enough (a .pth file does it in every interpreter of the image). Nothing heavy is loaded:
each library is patched when the code imports it. Which door, and with which right, is read from the environment at
each call: QUELEA_MARKET_TOKEN, and QUELEA_MARKET_SOCKET or QUELEA_MARKET_URL. The protocol is in PROTOCOL.md.

This serves honest code. It keeps nobody in: the container has no network.
"""

from quelea_market.errors import MarketError, MarketRefused, NoNetwork
from quelea_market.hooks import install

__all__ = ["MarketError", "MarketRefused", "NoNetwork"]

install()
