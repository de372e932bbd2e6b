"""Methods whose result Python wants to be a number of its own: no stand-in comes out of them."""

import operator

import pytest
from side_by_side import Program, agreeing, ramp

METHODS = {
    "__float__": "float(thing)",
    "__int__": "int(thing)",
    "__index__": "[1.0, 2.0, 3.0, 4.0][thing]",
    "__len__": "len(thing)",
    "__bool__": "(2.0 if thing else 3.0)",
    "__complex__": "complex(thing).real",
    "__hash__": "hash(thing)",
    "__length_hint__": "operator.length_hint(thing)",
    "__round__": "round(thing)",
    "__abs__": "abs(thing)",
    "__neg__": "-thing",
}


WRAPPED = {"__complex__": "complex({})", "__bool__": "bool({})"}  # eager mode refuses anything else
VALUES = {"__float__": [1.0, 1.0, 2.0, 1.0, 0.5, 1.0, 3.0], "__index__": [1, 1, 0, 1, 0, 1, 1]}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("result", ["self.value", "self.value + self.value", "int(self.value)"])
def test_a_method_returns_a_number_that_changes(tg, method, result):
    values = VALUES.get(method, [1, 1, 2, 1, 0, 1, 3])

    def build(tg):
        space = {"operator": operator}
        returned = WRAPPED.get(method, "{}").format(result)
        exec(f"class Thing:\n    value = 1\n    def {method}(self):\n        return {returned}", space)
        thing = space["thing"] = space["Thing"]()
        exec(f"def step(x):\n    return (x * {METHODS[method]}).sum()", space)
        x = ramp(tg, 3)

        def args(i):
            thing.value = values[i]
            return (x,)

        return Program(space["step"], args, raises=(TypeError,))

    agreeing(tg, build, len(values))
