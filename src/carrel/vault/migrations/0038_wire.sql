-- What a model wrote before its answer and its server left in the text; NULL where there is none.
ALTER TABLE generated ADD COLUMN thought TEXT;
-- The provider's own sentences about the failure in `error`, for the person whose key it is.
ALTER TABLE tasks ADD COLUMN provider_said TEXT;

-- A run may pause because a provider answers nothing. 0017 says why the table is not made anew.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''unknown-costs'')', '''unknown-costs'', ''provider'')')
    WHERE type = 'table' AND name = 'runs';
PRAGMA writable_schema = RESET;
