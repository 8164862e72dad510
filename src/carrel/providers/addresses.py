"""Which addresses a provider may be called at, once its name has been resolved. Pure.

A public name may be made to point at the machine itself, at its neighbours or at a cloud's metadata service. So every
address is looked at after the name was resolved, and the connection goes to that address and no other.
"""

import ipaddress

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LAST_32_BITS = 0xFFFF_FFFF
_IPv4 = ipaddress.IPv4Address
_IPv6 = ipaddress.IPv6Address


def allowed(text: str, *, inside: bool) -> bool:
    """Whether an address may be connected to.

    Public ones may. Those of the machine itself and of its own network may if `inside`, which is when the operator has
    named the host. Link-local, multicast, reserved and unspecified ones never may, and nothing that is no address.
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
        # Also where a translator of one's own network stands, behind which there may be anything (RFC 8215).
        return False
    return inside or address.is_global


def _bare(address: _IPv4 | _IPv6) -> _IPv4 | _IPv6:
    """The IPv4 address that an IPv6 address stands for, if it does."""
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
