"""Shows the product's main job on a broker of its own: what ``duestream demo`` does."""
