-- What the host bears of calls that credits pay for: their cost is unknown, or above what was held back for them. The
-- charge of such a call is decided after its end, once: until then `charged_micros` is NULL.
ALTER TABLE calls ADD COLUMN borne_micros INTEGER;  -- credits: what nobody is charged for
CREATE INDEX calls_undecided ON calls (seq) WHERE reservation IS NOT NULL AND charged_micros IS NULL;
CREATE INDEX calls_borne ON calls (substr(finished_at, 1, 10), borne_micros) WHERE borne_micros > 0;

DROP TRIGGER calls_immutable;
CREATE TRIGGER calls_immutable BEFORE UPDATE ON calls
    WHEN OLD.outcome <> 'running' AND (OLD.reservation IS NULL OR OLD.charged_micros IS NOT NULL) BEGIN
    SELECT RAISE(ABORT, 'a call that has ended does not change');
END;
CREATE TRIGGER calls_ended BEFORE UPDATE OF outcome, cost_micros, reserved_micros, reservation ON calls
    WHEN OLD.outcome <> 'running' BEGIN
    SELECT RAISE(ABORT, 'a call that has ended does not change');
END;

-- A run may pause for this reason. SQLite has no statement that changes a CHECK, and to make the table anew would delete
-- everything that refers to it. Its documentation of ALTER TABLE (section 7) allows this for a change that leaves every
-- stored row as it is.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''membership'')', '''membership'', ''unknown-costs'')')
    WHERE type = 'table' AND name = 'runs';
PRAGMA writable_schema = RESET;
