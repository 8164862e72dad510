import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.providers.connections.addresses import allowed

PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
INSIDE = [
    "127.0.0.1",
    "127.8.9.10",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "::ffff:10.1.2.3",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
]
NEVER = [
    "0.0.0.0",
    "::",
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "64:ff9b:1::a00:1",
    "::ffff:0:a00:1",
    "4000::1",
    "5f00::1",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
    "240.0.0.1",
    "",
    "2130706433",
    "0x7f.1",
    "127.1",
    "localhost",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_called(address: str) -> None:
    assert allowed(address, inside=False)
    assert allowed(address, inside=True)


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_may_be_called_if_the_operator_named_the_host(address: str) -> None:
    assert not allowed(address, inside=False)
    assert allowed(address, inside=True)


@pytest.mark.parametrize("address", NEVER)
def test_some_may_never_be_called(address: str) -> None:
    assert not allowed(address, inside=False)
    assert not allowed(address, inside=True)


@given(st.ip_addresses(v=4), st.booleans())
def test_an_address_in_disguise_is_judged_as_what_it_is(address: ipaddress.IPv4Address, inside: bool) -> None:
    number = int(address)
    plain = allowed(str(address), inside=inside)
    disguises = [
        ipaddress.IPv6Address(0xFFFF << 32 | number),
        ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) | number),
        ipaddress.IPv6Address(0x2002 << 112 | number << 80),
    ]
    assert [allowed(str(disguise), inside=inside) for disguise in disguises] == [plain] * 3
