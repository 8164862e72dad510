"""Files that users upload: how many are taken in at once, and how a form is read without a temporary file."""
