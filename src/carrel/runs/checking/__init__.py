"""The checks of a run, which need no judge: `marks` keeps them and their marks, `results` says what they come to."""
