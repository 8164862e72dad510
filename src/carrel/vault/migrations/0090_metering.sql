-- Metering: what a call was priced by, the most that it could cost, and what it took of credits.
ALTER TABLE calls ADD COLUMN phase TEXT;                 -- generate, score, compare, combine, or what was asked outside of runs
ALTER TABLE calls ADD COLUMN written_tokens INTEGER;     -- put into the provider's cache
ALTER TABLE calls ADD COLUMN price_id TEXT;              -- NULL: nobody knows the price
ALTER TABLE calls ADD COLUMN most_micros INTEGER;        -- the most that it was expected to cost
ALTER TABLE calls ADD COLUMN reservation TEXT;           -- credits: the id under which account.db holds them back
ALTER TABLE calls ADD COLUMN reserved_micros INTEGER;
ALTER TABLE calls ADD COLUMN charged_micros INTEGER;     -- credits: what it took of the balance, never more than reserved
CREATE UNIQUE INDEX calls_reservation ON calls (reservation) WHERE reservation IS NOT NULL;
CREATE INDEX calls_unpriced ON calls (run_id, most_micros) WHERE cost_micros IS NULL;

CREATE TRIGGER calls_immutable BEFORE UPDATE ON calls WHEN OLD.outcome <> 'running' BEGIN
    SELECT RAISE(ABORT, 'a call that has ended does not change');
END;
