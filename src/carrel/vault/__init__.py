"""The vault: keys in memory and the encrypted workspaces that they open."""
