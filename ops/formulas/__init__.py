"""Special functions as formulas, each written once: numpy evaluates them, and ``tg_special.h`` is made of them."""
