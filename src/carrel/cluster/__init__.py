"""Several processes, each with slots of its own: who may serve a slot, and how a slot gets to another node.

Nothing here is imported unless CARREL_NODE_NAME is set.

    rules, pure      ownership · moves · lease · planning
    this node        node · fence · files · refusals
    etcd             etcd · connection · registry
    moves of slots   departures · arrivals · copying · peers
    the proxy        routing · haproxy · map_agent
    whole copies     adoption · shares
"""
