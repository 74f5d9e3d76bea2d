"""Says what a job would make of an event, without a broker and without Spark.

It is the dialect ``cloudevents`` and the rules of admission once more, in plain Python; a test
holds the two against each other.
"""
