"""A run's report, and its export as a zip. Nothing here changes the run.

`report_input` reads all rows that a report needs. The report is JSON (`report`) or HTML (`page`), and `rendering` makes
one or the other in the worker. The export is made in the background.

    over HTTP             routes · download
    reading the run       report_input · document_input · text_budget · jobs
    what the rows say     findings · decision · losses · by_document · combined · paired · against
    the report            report · against_report · page · prose · rendering
    the export            exports · export_store · export_parts · export_tables · archive
"""
