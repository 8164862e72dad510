-- What checks that ignore case, blanks, prefixes or fences would say without that; NULL: none of them ignores anything.
ALTER TABLE check_marks ADD COLUMN strict TEXT;      -- JSON: as marks
ALTER TABLE check_marks ADD COLUMN fields TEXT;      -- JSON: {check: {path: [right, wrong, missing, extra]}}
