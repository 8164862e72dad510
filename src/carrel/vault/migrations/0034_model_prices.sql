-- What the user says that a million tokens cost, in millionths of a US dollar, where the user's own key pays.
-- `model` is `provider:name`, or the provider alone for all of its models that have no price otherwise.
CREATE TABLE model_prices (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    model TEXT NOT NULL UNIQUE,
    input_micros INTEGER NOT NULL,
    output_micros INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 1,
    updated_at TEXT NOT NULL
) STRICT;
