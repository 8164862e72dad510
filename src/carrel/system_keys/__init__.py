"""The system's keys for model providers, sealed in `service.db`; the admin manages them."""
