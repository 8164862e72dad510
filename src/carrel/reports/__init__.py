"""A run's report, and its export as a zip. Nothing here changes the run.

reading the run     report_input, all rows that a report needs · findings, by_document, combined, against: what they say
the report          report, the JSON · page, prose, templates: the HTML · rendering, one or the other in the worker
the export          exports, made in the background · export_store · export_parts · archive, the zip · download
"""
