"""What a specialisation depends on: sources, guards over them, and the generated check."""
