"""The ways in which a record may say what to publish, where and when; one module for each."""
