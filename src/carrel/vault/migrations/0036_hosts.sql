-- Where a model answered: NULL at its provider's own host, otherwise the host with its port. What was recorded before
-- hosts were says so, and is not taken for the provider's own.
ALTER TABLE calls ADD COLUMN host TEXT DEFAULT 'an unknown host';
ALTER TABLE batches ADD COLUMN host TEXT DEFAULT 'an unknown host';
ALTER TABLE generated ADD COLUMN host TEXT DEFAULT 'an unknown host';
ALTER TABLE run_candidates ADD COLUMN host TEXT;     -- of all answers; several with commas between
ALTER TABLE run_judges ADD COLUMN host TEXT;
ALTER TABLE judge_checks ADD COLUMN host TEXT;

-- Where the key that is stored names no other host, and was there before the run, all calls went to the provider's own.
UPDATE run_candidates SET host = 'an unknown host' WHERE model NOT LIKE 'local:%' AND NOT EXISTS (
    SELECT 1 FROM runs JOIN run_snapshots ON run_snapshots.run = runs.seq
    JOIN provider_key ON run_candidates.model LIKE provider || ':%' AND base_url IS NULL AND updated_at <= runs.created_at
    WHERE runs.seq = run_candidates.run AND json_extract(configuration, '$.billing') IS NOT 'credits');
UPDATE run_judges SET host = 'an unknown host' WHERE model NOT LIKE 'local:%' AND NOT EXISTS (
    SELECT 1 FROM runs JOIN run_snapshots ON run_snapshots.run = runs.seq
    JOIN provider_key ON run_judges.model LIKE provider || ':%' AND base_url IS NULL AND updated_at <= runs.created_at
    WHERE runs.seq = run_judges.run AND json_extract(configuration, '$.billing') IS NOT 'credits');
UPDATE judge_checks SET host = 'an unknown host' WHERE model NOT LIKE 'local:%' AND NOT EXISTS (
    SELECT 1 FROM provider_key
    WHERE judge_checks.model LIKE provider || ':%' AND base_url IS NULL AND updated_at <= started_at);
