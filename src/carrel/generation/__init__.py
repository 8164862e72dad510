"""What a language model is asked when it generates."""
