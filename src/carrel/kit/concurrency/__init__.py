"""Additions to asyncio: work that no cancellation interrupts, locks, and turns of users in threads."""
