-- Answers that rest on what the provider's own search found.
ALTER TABLE run_candidates ADD COLUMN grounding TEXT NOT NULL DEFAULT 'off'
    CHECK (grounding IN ('off', 'allowed', 'required'));

CREATE TABLE generated_citations (
    generated INTEGER PRIMARY KEY REFERENCES generated (seq) ON DELETE CASCADE,
    citations TEXT NOT NULL                            -- JSON: [{"url": …, "title": …}, …]
) STRICT;
