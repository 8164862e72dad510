-- A run may pause because the operator allows no more calls today. 0017 says why the table is not made anew.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''provider'')', '''provider'', ''quota'')')
    WHERE type = 'table' AND name = 'runs';
PRAGMA writable_schema = RESET;
