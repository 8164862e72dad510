-- The ETag that went with an answer: a repetition gets it too.
ALTER TABLE idempotency ADD COLUMN etag TEXT;
