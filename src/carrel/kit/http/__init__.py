"""HTTP: requests, answers, and the parts that both share. It knows nothing of Carrel.

Begin with `envelope`, the outermost layer around every request.

    a request     envelope · cors · request_checks · body · schema · limits · in_flight · accept · days · dependencies
    its faults    validation · faults
    an answer     answer · fenced · etag · read_only · problem · download · event_stream · idempotency
    openapi.json  describe

The package `watching` has the access log and the counts of requests.
"""
