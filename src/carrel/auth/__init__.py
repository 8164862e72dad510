"""The front door: session tokens, sign-in and its end, and the guards that stand before every route."""
