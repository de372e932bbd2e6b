"""What is written through an index, to axes that show an element again and again, and through views."""
