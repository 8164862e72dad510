-- Whoever writes forgets what is older than a day, and counts the rest: without reading the answers that are kept.
CREATE INDEX idempotency_by_age ON idempotency (created_at);
