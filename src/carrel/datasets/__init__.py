"""Data sets: tables of inputs that a user uploads, row by row, with finished answers of other programs.

From what is shared to the interface:

    what tables have in common  names · lines · columns · refusals · schemas
    formats                     csv_rows · json_rows · grid · spreadsheets · looks · cell_formats · reading
    what cells hold             conversations · last_turns · table
    in workers, and kept        batches · readers · rows · store
    the interface               routes · upload
"""
