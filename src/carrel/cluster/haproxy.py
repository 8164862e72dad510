"""The configuration of HAProxy that sends every request to the node of its user, and the map of slots that it reads.

HAProxy finds the uuid where `routing` says, computes the slot, and looks the node up. It never sends a request to
another node than that: a node refuses other nodes' users with 421 anyway, which the proxy turns into a 503. So a wrong
map, or a trick in a path, costs a repetition and does no harm.

Names and addresses of nodes come from etcd, and HAProxy obeys what stands in its files and at its socket. So they are
checked once more where they become a line.
"""

import re
from collections.abc import Mapping
from typing import Final

from carrel.accounts.slots import SLOTS
from carrel.cluster import routing
from carrel.cluster.ownership import Entry
from carrel.config import ADDRESS, NODE_NAME

UNASSIGNED: Final = "unassigned"
_TOKEN: Final = "req.fhdr(X-SVC-Session-Token)"  # noqa: S105  # the name of a header
_PROGRAM_TOKEN: Final = "carrel_pt_"  # noqa: S105  # a prefix
_PROGRAM_KEY: Final = "carrel_pk_"


def configuration(
    nodes: Mapping[str, str],
    *,
    listen: str,
    map_file: str,
    socket: str,
    certificate: str | None = None,
    node_ca: str | None = None,
) -> str:
    """The whole file. `nodes` are addresses (`host:port`) by name; `listen` is an address, too.

    With a `certificate` (PEM, with its key) the proxy speaks HTTPS to clients, with a `node_ca` to nodes.
    """
    bind = listen if certificate is None else f"{listen} ssl crt {certificate} alpn http/1.1"
    servers = {name: f"    server {_server(name, address, node_ca)}" for name, address in sorted(nodes.items())}
    anyone = "\n".join(f"{server} check inter 1s fall 3 rise 1" for server in servers.values())
    first = min(servers)
    control = "\n".join(
        f"{server} track any/{name}{'' if name == first else ' backup'}" for name, server in servers.items()
    )
    own = "\n".join(f"\nbackend node_{name}\n{server} track any/{name}" for name, server in servers.items())
    return f"""\
# Made by carrel cluster haproxy. Make it again when the nodes change; the map of slots changes by itself.
global
    maxconn 4000
    # A node refuses heads of more than 64 kB itself, in the words of all errors.
    tune.bufsize 98304
    stats socket {socket} mode 600 level admin expose-fd listeners
    hard-stop-after 60s
    ssl-default-bind-ciphers ECDHE+AESGCM:ECDHE+CHACHA20

defaults
    mode http
    timeout connect 2s
    # Longer than the silence between two events of a stream.
    timeout client 75s
    timeout server 75s
    timeout http-request 10s
    timeout http-keep-alive 60s
    timeout queue 10s
    timeout tunnel 1h
    # Only what no node has seen is sent again, and never to another node.
    retries 3
    retry-on conn-failure
    no option redispatch
    option http-keep-alive
    http-reuse safe
    option forwardfor
    http-error status 400 {_problem(400, "bad-request", "The request cannot be read.")}
    http-error status 408 {_problem(408, "request-timeout", "The request was not complete in time.")}
    http-error status 422 {_problem(422, "bad-request", "The request cannot be read.")}
    http-error status 502 {_problem(502, "node-lost", "The connection to the node of this user was lost.", 2)}
    http-error status 503 {_problem(503, "node-starting", "The node of this user is starting; try again.", 2)}
    http-error status 504 {_problem(504, "node-silent", "The node of this user does not answer.", 2)}

frontend carrel
    bind {bind}
    acl is_post method POST
    acl has_token {_TOKEN} -m found
    acl has_program_token {_TOKEN} -m beg {_PROGRAM_TOKEN}
    acl names_in_body path {" ".join(routing.BODY_ROUTES)}
    acl names_in_key path {routing.PROGRAM_ROUTE}
    http-request wait-for-body time 5s if is_post names_in_body
    http-request wait-for-body time 5s if is_post names_in_key
    http-request set-var(txn.uuid) req.body,json_query('$.uuid') if is_post names_in_body
    http-request set-var(txn.uuid) req.body,json_query('$.program_key'),bytes({len(_PROGRAM_KEY)}),field(1,.) \
if is_post names_in_key
{_path_rules()}
    acl has_uuid var(txn.uuid) -m found
    http-request set-var(txn.uuid) {_TOKEN},bytes({len(_PROGRAM_TOKEN)}),field(1,.),ub64dec,json_query('$.uuid') \
if has_program_token !has_uuid
    http-request set-var(txn.uuid) {_TOKEN},field(1,.),ub64dec,json_query('$.uuid') \
if has_token !has_program_token !has_uuid
    # What cannot be a uuid goes to any node, which says what is wrong with it.
    http-request unset-var(txn.uuid) if has_uuid !{{ var(txn.uuid) -m reg ^[A-Za-z0-9][A-Za-z0-9_-]{{0,63}}$ }}
    http-request set-var(txn.node) var(txn.uuid),crc32,mod({SLOTS}),map({map_file},{UNASSIGNED}) if has_uuid
    http-response return status 503 {_problem(503, "workspace-busy", "The user is being moved; try again.", 1)} \
if {{ status 421 }}
    use_backend control if {{ path_beg /api/admin/ /api/metrics }}
    use_backend any if !has_uuid
    use_backend node_%[var(txn.node)]
    default_backend {UNASSIGNED}

backend any
    balance roundrobin
    option redispatch
    option httpchk GET /api/health
{anyone}

backend control
{control}
{own}

backend {UNASSIGNED}
    http-request return status 503 {_problem(503, "node-unassigned", "No node has this user now.", 30)}
"""


def map_text(entries: Mapping[int, Entry]) -> str:
    """The map as HAProxy reads it: a slot and its node in each line."""
    return "".join(f"{entry(slot, node)}\n" for slot, node in nodes_of(entries).items())


def entry(slot: int, node: str) -> str:
    """An entry of the map: a slot and its node.

    Raises:
        ValueError: they are more than that.
    """
    if slot not in range(SLOTS) or not re.fullmatch(NODE_NAME, node):
        raise ValueError
    return f"{slot} {node}"


def _server(name: str, address: str, node_ca: str | None) -> str:
    if not re.fullmatch(NODE_NAME, name) or not re.fullmatch(ADDRESS, address):
        raise ValueError
    if node_ca is None:
        return f"{name} {address}"
    host = address.rpartition(":")[0]
    # HAProxy looks for no address in a certificate, only for names.
    by_name = "" if re.fullmatch(r"[0-9.]+|\[.*", host) else f" verifyhost {host}"
    return f"{name} {address} ssl verify required ca-file {node_ca}{by_name}"


def nodes_of(entries: Mapping[int, Entry]) -> dict[int, str]:
    """The node of every slot. A slot goes to its source until the move is committed."""
    return {slot: entries[slot].node if slot in entries else UNASSIGNED for slot in range(SLOTS)}


def _path_rules() -> str:
    lines = []
    for number, (method, template) in enumerate(routing.PATH_ROUTES):
        pattern = template.replace("{uuid}", "[^/]+")
        lines.append(f"    acl names_in_path{number} path_reg ^{pattern}/?$")
        condition = f"{{ method {method} }} names_in_path{number} !{{ path /api/users/me }}"
        lines.append(f"    http-request set-var(txn.uuid) path,field(4,/) if {condition}")
    return "\n".join(lines)


def _problem(status: int, code: str, detail: str, retry_after_seconds: int = 0) -> str:
    body = (
        f'{{"type":"/api/errors/{code}","title":"{_TITLES[status]}","status":{status},'
        f'"detail":"{detail}","code":"{code}","request_id":""}}'
    )
    head = f"content-type application/problem+json string '{body}' hdr Cache-Control no-store"
    return f"{head} hdr Retry-After {retry_after_seconds}" if retry_after_seconds else head


_TITLES: Final = {
    400: "Bad Request",
    408: "Request Timeout",
    422: "Unprocessable Content",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
