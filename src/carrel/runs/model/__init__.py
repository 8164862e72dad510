"""What a run is made of: its states, its plan, its setup, its texts and its log, and how the API shows them."""
