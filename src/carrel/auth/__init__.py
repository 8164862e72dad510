"""Authentication: session tokens, sign-in and sign-out, and the guards that run before every route."""
