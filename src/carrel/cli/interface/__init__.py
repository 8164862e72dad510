"""What commands share: how they read, ask, write and end.

`terminal` shows results and chooses exit codes, `data_folder` does that for commands on a stopped service.
"""
