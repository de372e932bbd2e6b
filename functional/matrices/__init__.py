"""Linear algebra by numpy's LAPACK: decompositions, systems of equations, and what is made of them."""
