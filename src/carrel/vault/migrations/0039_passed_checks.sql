-- Whether a judge was right in nine of ten words of its check; NULL: it is not finished.
ALTER TABLE judge_checks ADD COLUMN passed INTEGER CHECK (passed IN (0, 1));
UPDATE judge_checks SET passed = (
    SELECT sum(CASE word WHEN 'tie' THEN 0.5 ELSE word = iif(
        (presented = 'ab') = (pair IN ('tides', 'minutes', 'refund', 'names', 'units', 'dose')), 'first', 'second')
    END) >= 21.6 FROM judge_check_words WHERE judge_check = seq)
WHERE finished_at NOT NULL;
