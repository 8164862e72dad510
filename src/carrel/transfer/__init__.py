"""Export and import of a whole workspace. This package is above every feature, because it knows them all."""
