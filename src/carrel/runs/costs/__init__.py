"""What a call can cost before it is made, and whether there is a key for every model of a run."""
