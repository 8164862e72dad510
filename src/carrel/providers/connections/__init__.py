"""The connections to other servers: pools of them, the thread that reads what comes, and what may be called.

Begin with `transport`. `network` is what all calls share, `exchange` the client in its thread.
"""
