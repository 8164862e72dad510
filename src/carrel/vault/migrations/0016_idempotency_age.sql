-- Whoever writes forgets what is older than a day: without going through all that is not.
CREATE INDEX idempotency_by_age ON idempotency (created_at);
