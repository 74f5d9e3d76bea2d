"""What every page of the console needs: who visits it, and the way in and out."""
