"""What a node of a cluster refuses, and why it does not start."""

from typing import ClassVar

from carrel.errors import CarrelError, Unavailable


class WrongNode(CarrelError):
    """Another node serves this user. A proxy that knows the map never shows this to a client."""

    status: ClassVar[int] = 421
    code = "wrong-node"
    detail = "Another node serves this user; nothing was done."


class NodeSuspended(Unavailable):
    """The node's lease may have ended. It keeps its keys, and goes on when etcd answers."""

    code = "node-suspended"
    detail = "This node does not know whether it still may serve; nothing was done, try again."

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=2)


class SlotUnavailable(Unavailable):
    """The map gives the slot to this node, and the disk does not hold the copy that the map means."""

    code = "slot-unavailable"
    detail = "The data of this user is not on the disk of its node; the operator has to act."

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=30)


class SlotMoving(Unavailable):
    """The slot is being released: in a moment another node serves it."""

    code = "slot-moving"
    detail = "The data of this user is moving to another node; nothing was done, try again."

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=1)


class EtcdSilent(Unavailable):
    """No server of etcd answered."""

    code = "etcd-unreachable"
    passes = True
    detail = "No server that CARREL_ETCD names answers."


class EtcdUserRejected(Unavailable):
    """etcd does not let the user of the settings do what nodes do."""

    code = "etcd-user-rejected"
    detail = "etcd rejects CARREL_ETCD_USER or its password, or its role does not allow the keys of the cluster."


class EtcdCertificateUnusable(CarrelError):
    """The files of certificates for etcd are not what they have to be."""

    status: ClassVar[int] = 503
    code = "etcd-certificate-unusable"
    detail = "CARREL_ETCD_CA, CARREL_ETCD_CERT, CARREL_ETCD_KEY: cannot be read, or do not belong together."


class NodeCertificateUnusable(CarrelError):
    """The files of certificates for other nodes are not what they have to be."""

    status: ClassVar[int] = 503
    code = "node-certificate-unusable"
    detail = "CARREL_NODE_CA, CARREL_NODE_CERT, CARREL_NODE_KEY: cannot be read, or do not belong together."


class NodePeerUnusable(Unavailable):
    """The node cannot listen for other nodes."""

    code = "node-peer-unusable"
    passes = True
    detail = "CARREL_NODE_PEER: this machine has no such address, or another process uses the port."


class NodeHoldsOthers(Unavailable):
    """A folder that was used without a cluster holds users whose slots the map gives to other nodes."""

    code = "node-holds-others"
    detail = "The data folder holds users of other nodes' slots; make the cluster with carrel cluster init --existing."


class ClusterAbsent(Unavailable):
    """Below this prefix of etcd there is no cluster."""

    code = "cluster-not-initialised"
    detail = "etcd knows no cluster of the name CARREL_CLUSTER; carrel cluster init makes one."


class ClusterKeyRejected(Unavailable):
    """The cluster was made with another service key."""

    code = "cluster-key-rejected"
    detail = "CARREL_SERVICE_KEY is not the key of this cluster; every node needs the same one."


class NodeUnknown(Unavailable):
    """The cluster has no node of this name."""

    code = "node-unknown"
    detail = "The cluster has no node of the name CARREL_NODE_NAME; carrel cluster status lists its nodes."


class NodeTaken(Unavailable):
    """Another process is this node."""

    code = "node-taken"
    passes = True
    detail = "Another process is the node CARREL_NODE_NAME; give each node a name of its own."


class NodeDiskForeign(Unavailable):
    """The data folder is not the one that the node used last: it is empty, older, or another node's."""

    code = "node-disk-foreign"
    detail = (
        "The data folder is not the one that this node used last; bring back its disk, or restore a copy and say so"
        " with carrel cluster adopt."
    )
