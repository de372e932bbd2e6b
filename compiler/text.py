"""Graphs as text: printing, and reading back (``parse(str(graph)) == graph`` in structure).

    graph step(x: f32[32,8], w: f32[8,4]):
      %0: f32[32,4] = dot x, w        # model.py:4
      return y=%0
"""
