"""A whole workspace on its way out and back in: above every feature, for it knows them all."""
