"""The state in MongoDB: schedules by key, older versions, and a journal of the last commit."""
