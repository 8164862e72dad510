-- Sessions from before this epoch second are over, whoever's they are: a backup was restored, and what ended them since
-- it was made stands nowhere any more.
ALTER TABLE issuance ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
