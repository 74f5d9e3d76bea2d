"""The settings: their models, the layers they come from and what is told when they are wrong."""
