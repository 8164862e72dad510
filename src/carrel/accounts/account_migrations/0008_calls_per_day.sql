-- How many calls of models the operator lets this user make on one UTC day. NULL: any number.
ALTER TABLE account ADD COLUMN calls_per_day INTEGER CHECK (calls_per_day >= 0);
