"""The available models, their abilities, and their prices."""
