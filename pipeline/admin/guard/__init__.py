"""What every request passes before the application sees it, and every answer after it."""
