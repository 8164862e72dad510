"""The results of a run by the values of a column of its rows: reading them, and computing the parts."""
