"""The asynchronous client: what `AsyncWorkspace` is made of.

Written by `sdk/generate.py` from the synchronous modules of the same names. Change those, and run it again.

    the network      transport · calls · event_stream · transfer
    groups           single · program_keys · catalogue · contents · documents · data_sets · evaluation · github
    more groups      judges · metering · presets · provider_keys · rate_limits · runs · settings · votes · workspace
"""
