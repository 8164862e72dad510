"""Programs that sign in with keys of their own.

A key wraps the user's key. It is exchanged for a session token, with which a program may do what its scopes allow.

    for everybody     scopes
    pure              secret · tokens · endings
    with state        service_secret · use · keys · sign_in
    over the wire     schemas · routes
"""
