"""What to send when: pure rules, without a clock, a store or Spark."""
