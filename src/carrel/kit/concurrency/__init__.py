"""Additions to asyncio: work that no cancellation interrupts, locks, turns, and clients that leave."""
