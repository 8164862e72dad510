"""Additions to asyncio: work that a cancellation does not interrupt, and one lock for each key."""
