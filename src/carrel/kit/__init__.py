"""What would serve any service: databases, requests and answers, time. Knows nothing of Carrel.

Begin with `database`, and with `envelope`, the outermost layer around every request.

    time and chance   clock · ids
    databases         database · migrate · paging · money · json_text
    a request         envelope · cors · inputs · body · schema · limits · accept · provided · idempotency
    an answer         answer · etag · problem · faults · download · event_stream
    openapi.json      describe
    watching          logs · access · tally
    concurrency       patience · turns · worker · worker_child
    names in git      paths
"""
