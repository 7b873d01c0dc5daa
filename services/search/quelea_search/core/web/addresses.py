"""Which IP addresses may be read: those of the public internet, and nothing that leads back inside.

The ranges are written out from IANA's special-purpose registries (RFC 6890, as of 2026) instead of taken from
`ipaddress.is_global`, whose answers changed between Python's patch releases.
"""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_REFUSED_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; Alibaba's metadata 100.100.100.200
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host, a public address that only answers from inside
        "169.254.0.0/16",  # link-local; metadata 169.254.169.254
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
"""Global unicast. Everything else is refused with it: ::1, ::, IPv4-mapped and -compatible, NAT64 (64:ff9b::/96 and
64:ff9b:1::/48), discard 100::/64, segment routing 5f00::/16, ULA fc00::/7 (metadata fd00:ec2::254), link-local
fe80::/10, site-local fec0::/10, multicast ff00::/8."""
_REFUSED_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID; they carry IPv4 addresses inside
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries an IPv4 address inside
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""Third quarter of an address that carries an IPv4 address in its last one (RFC 5214)."""


def is_public(address: Address) -> bool:
    """Whether a page may be read from an address."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id is not None or address not in _PUBLIC_6 or any(address in network for network in _REFUSED_6):
        return False
    return (int(address) >> 32) & 0xFFFF_FFFF not in _ISATAP


def parse_address(text: str) -> Address | None:
    """An IPv4 or IPv6 address as a resolver writes it; None for anything else."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def parse_loose_ipv4(host: str) -> ipaddress.IPv4Address | None:
    """What inet_aton() makes of a host: decimal, octal, hexadecimal, short forms (2130706433, 0177.1, 0x7f.0.0.1).

    Raises ValueError when the last label is a number, so that some resolver could take the host for an address, but it
    is none (WHATWG URL, "ends in a number").
    """
    labels = host.split(".")
    if not (labels[-1].isdigit() or labels[-1].startswith("0x")):
        return None
    if len(labels) > 4:
        raise ValueError(host)
    numbers = [_number(label) for label in labels]
    last = numbers.pop()
    if last >= 256 ** (4 - len(numbers)) or any(number > 255 for number in numbers):
        raise ValueError(host)
    for place, number in enumerate(numbers):
        last += number << (8 * (3 - place))
    return ipaddress.IPv4Address(last)


def _number(label: str) -> int:
    if not label.isascii() or not label.isalnum() or len(label) > 16:
        raise ValueError(label)
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if len(label) > 1 and label.startswith("0") else int(label, 10)
