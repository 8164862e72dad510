"""Several processes, each with slots of its own: who may serve a slot, and how a slot gets to another node.

Nothing here is imported unless CARREL_NODE_NAME is set.
"""
