"""Which addresses a provider may be called at, once its name has been resolved. Pure.

An attacker can make a public name point to the machine itself, to its neighbours or to a cloud's metadata service. So
the transport checks every address after it resolved the name, and connects to that address and no other.
"""

import ipaddress

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LAST_32_BITS = 0xFFFF_FFFF
_IPv4 = ipaddress.IPv4Address
_IPv6 = ipaddress.IPv6Address


def allowed(text: str, *, inside: bool) -> bool:
    """Whether the transport may connect to an address.

    It may connect to public addresses. It may connect to addresses of the machine itself and of its own network if
    `inside`, which is when the operator has named the host. It may never connect to link-local, multicast, reserved and
    unspecified addresses, or to a text that is not an address.
    """
    try:
        address = _bare(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return False
    if address.is_multicast or address.is_link_local or address.is_unspecified or _is_site_local(address):
        return False
    if address.is_loopback:
        return inside
    if address.is_reserved:
        # A translator (NAT64) may lead to any address behind it, also one of the operator's own network (RFC 8215).
        return False
    return inside or address.is_global


def _bare(address: _IPv4 | _IPv6) -> _IPv4 | _IPv6:
    """The IPv4 address that an IPv6 address contains; otherwise the address itself."""
    if isinstance(address, _IPv4):
        return address
    within = address.ipv4_mapped or address.sixtofour
    if within is None and address.teredo is not None:
        within = address.teredo[1]
    if within is None and address in _NAT64:
        within = _IPv4(int(address) & _LAST_32_BITS)
    if within is None and 1 < int(address) <= _LAST_32_BITS:
        within = _IPv4(int(address))
    return within or address


def _is_site_local(address: _IPv4 | _IPv6) -> bool:
    return isinstance(address, _IPv6) and address.is_site_local
