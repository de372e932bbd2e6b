"""Both tables of docs/performance.md, measured row by row into a file of results and written from it."""
