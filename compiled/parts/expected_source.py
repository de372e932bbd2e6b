"""The text of the functions that `expected_call.py` writes."""

from ..lazy.sweep_reads import MET, NOT_COPIED
from ..replay.fast_path import LAYOUT, NEW_TENSOR

# `note` takes what it works with from its globals. Nothing is changed before the guards are known to hold; `here` is
# set last, so that an interrupt leaves a call noted, or not. A guard that reads a number of the segment has ended it.
SOURCE = """
def note(deferred, args):
    if len(args) != {count} or not ({modes}):
        return NOT_NOTED
    if ({elsewhere}{now} != still.count) and not still.is_so() or not ({classes}):
        return NOT_NOTED
    try:
        if not ({environment}):
            return NOT_NOTED
    except GONE:
        return NOT_NOTED
    if deferred.here is not before:
        return NOT_NOTED
    segment = deferred.segment
    {operands}
    {numbers}
    if ({refused}):
        return NOT_NOTED
    {meet}
    {results}
    deferred.memories[{first}:] = {memories}
    deferred.written |= event_written
    deferred.ops += {call}
    deferred.here = after
    {written}
    {history}
    return {result}
"""

OUTSIDE = """
    if type(a{i}) is not kind{i} or a{i}._requires or a{i}._node is not None or a{i}.__dict__:
        return NOT_NOTED
    if a{i}._base is not None and (a{i}._base.requires_grad or a{i}.requires_grad):
        return NOT_NOTED
"""
# A leaf that requires a gradient.
OUTSIDE_LEAF = """
    if (type(a{i}) is not kind{i} or not a{i}._requires or a{i}._node is not None or a{i}.__dict__
            or a{i}._base is not None or a{i}.leaf_hooks or a{i}.post_accumulate_hooks):
        return NOT_NOTED
"""
# A result of what an earlier segment has computed.
OUTSIDE_RESULT = """
    if type(a{i}) is not kind{i} or a{i}._requires or a{i}._node is None or a{i}.__dict__:
        return NOT_NOTED
    if a{i}._base is not None and a{i}.buffer.version != a{i}._seen_version: return NOT_NOTED
"""
OUTSIDE_WITH = {"none": OUTSIDE, "leaf": OUTSIDE_LEAF, "history": OUTSIDE_RESULT}
MEMORY = LAYOUT.replace("{miss}", "NOT_NOTED") + "    o{i} = m{i}[3]\n"
WHOLE = """
    w{i} = a{i}.ndarray
    if a{i}.steps or a{i}.buffer.whole is not w{i} or MET:
        return NOT_NOTED
""".replace("MET", MET)
# All of a memory in another form: a transposed weight, say.
VIEW = """
    w{i} = a{i}.buffer.whole
    if a{i}.steps != steps{i} or (w{i}.shape, w{i}.strides, w{i}.dtype) != whole{i} or MET:
        return NOT_NOTED
""".replace("MET", MET)
OUTSIDE_VIEW = """
    if type(a{i}) is not kind{i} or a{i}._requires or a{i}._node is not None or a{i}.__dict__:
        return NOT_NOTED
    if a{i}._base is not None and (a{i}.is_ambiguous() or a{i}.is_tracked()):
        return NOT_NOTED
"""
VIEW_WITH = {"none": OUTSIDE_VIEW, "history": OUTSIDE_RESULT}
COPIED = """
    w{i}, h{i} = a{i}.ndarray, a{i}.buffer.whole
    if NOT_COPIED:
        return NOT_NOTED
    w{i} = copied(w{i})
""".replace("NOT_COPIED", NOT_COPIED)
KNOWN = """
    p{i} = a{i}.place
    if p{i} is None or p{i}[0] is not segment or p{i}[1] != {token} or type(a{i}) is not kind{i} or a{i}.__dict__:
        return NOT_NOTED
    if a{i}._base is not None and a{i}.buffer.version != a{i}._seen_version: return NOT_NOTED
"""
# Where this segment has met it: its memory may be that of other arguments.
OWNER = "    o{i} = memory_of(a{i})[3]\n"
# Of what is known: a tensor that shall have no history has one, or the other way round.
NOT_WITH_HISTORY = {
    "history": "    if a{i}._node is None or a{i}._requires: return NOT_NOTED\n",
    "none": "    if a{i}._node is not None or a{i}._requires: return NOT_NOTED\n",
    "leaf": "    if (a{i}._node is not None or not a{i}._requires or a{i}.leaf_hooks\n"
    "            or a{i}.post_accumulate_hooks): return NOT_NOTED\n",
}
RESULT = NEW_TENSOR.replace("{place}", "(segment, {token})") + "    deferred.number_of[id(n{i})] = {memory}\n"
