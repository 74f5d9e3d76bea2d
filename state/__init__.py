"""Everything that remembers: the state store, its kinds, and the ways to look into it."""
