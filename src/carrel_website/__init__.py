"""The Reading Room: a small host website, as a host would write one, with Carrel behind it. `carrel start` runs it.

What a host has to do is in `workspaces`; each page is one or two calls of it.

    begin here                      workspaces
    pages of visitors               entry · forgotten
    pages of users                  workspace_page · account
    what a page is made of          pages · protection · refusals · site · app · built_app · threads
    users and what they have        users · visits · passwords · throttle · orders · database
    forgotten passwords             links · recovery · resetting
    starting and filling it         start · seed
"""
