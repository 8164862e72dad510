"""What people would say: from judges on all documents and blind votes on a few."""
