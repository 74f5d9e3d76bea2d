"""Takes over what is pending on the topic of another scheduler: looks first, then imports it."""
