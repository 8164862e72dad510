"""Webhooks: the host is told what happened to its users, signed as https://www.standardwebhooks.com says."""
