"""Values that are written through an index, and to axes that show an element again and again."""
