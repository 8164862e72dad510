"""What goes wrong in the proxy, by the number of the request, and what Carrel must make of it. Nothing but constants.

The test reads this in Carrel's environment, and the proxy in its own.
"""

PERIOD = 40
FAULTS = {
    3: "rate-limited",
    7: "broken",
    11: "filtered",
    14: "refused",
    17: "policy",
    20: "late",
    24: "cut-off",
    27: "half-json",
    31: "silent",
    35: "half-json",
}
"""By the request's number within each period; `half-json` befalls judges only.

429 with a wait, 500, the finish reason `content_filter`, a `refusal` as the message, an error about the content policy,
408, a body that ends before its length, a judge's JSON that ends in the middle, no answer at all.
"""

WAIT_SECONDS = 2
"""What a 429 asks for."""
TIMEOUT_SECONDS = 10
"""How long Carrel waits for an answer."""

NEVER_WRITTEN = "the mill that broke"
"""No text about this comes from `gpt-4.1-nano`: always 500."""
NEVER_JUDGED = "the judge who fell silent"
"""What `judge-two` says about this is always half of its JSON."""

WRITTEN: dict[str, tuple[str, str | None]] = {
    "": ("answered", None),
    "rate-limited": ("failed", "rate-limited"),
    "broken": ("failed", "provider-overloaded"),
    "filtered": ("answered", None),
    "refused": ("answered", None),
    "policy": ("answered", None),
    "late": ("failed", "provider-timeout"),
    "cut-off": ("failed", "provider-malformed"),
    "silent": ("failed", "provider-timeout"),
}
"""Outcome and code of the row of a call for a text: a refused text is an answer, which loses."""

JUDGED = WRITTEN | {
    "half-json": ("malformed", "reply-not-json"),
    **dict.fromkeys(("filtered", "refused", "policy"), ("malformed", "reply-refused")),
}
"""The same of a call of a judge: one that refuses is asked once more."""
