"""What commands share: how they read input, show results, write files and end.

Begin with `terminal`, which shows results and chooses exit codes. `data_folder` is for commands on a data folder.
"""
