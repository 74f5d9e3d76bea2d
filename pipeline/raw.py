"""The columns that carry a record as it came, from the dialect to the dead letter."""

RAW_VALUE = "_value"
RAW_HEADERS = "_headers"
