"""Programs that sign in: their keys, which wrap the user's key, the exchange for a session token, and the scopes.

for everybody     scopes
pure              secret · tokens · endings
with state        service_secret · use · keys · sign_in
over the wire     schemas · routes
"""
