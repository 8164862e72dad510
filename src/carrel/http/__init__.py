"""The front door: connections, requests and answers. It knows nothing of Carrel.

server               connections, where a request ends, limits on slow clients, TLS
requests             from `envelope`, the outermost layer, through `routing` and `body` to a route
answers              what goes back: JSON, errors, files, events, an answer given once
watching             the access log and the counts of requests
request              a request as guards and routes see it
in_flight            what is under way of each user
client_connection    who waits for the work of a request
"""
