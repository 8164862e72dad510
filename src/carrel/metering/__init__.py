"""What every call to a model took and cost; outlives the runs that made the calls."""
