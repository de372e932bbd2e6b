"""The text of the functions that `expected.py` writes."""

# `note` takes what it works with from its globals. Nothing is changed before the guards are known to hold; `here` is
# set last, so that an interrupt leaves a call noted, or not.
SOURCE = """
def note(deferred, args):
    if switches.enabled is not grad_enabled or defaults.dtype is not default_dtype or len(args) != {count}:
        return NOT_NOTED
    if autocast.modes is not autocast_modes:
        return NOT_NOTED
    if ({elsewhere}{now} != still.count) and not still.is_so() or not ({classes}):
        return NOT_NOTED
    try:
        if not ({environment}):
            return NOT_NOTED
    except GONE:
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
MEMORY = """
    m{i} = a{i}.memory
    if m{i} is None or m{i}[0] is not a{i}.ndarray:
        m{i} = memory_of(a{i})
    if m{i}[1] is not layout{i}:
        return NOT_NOTED
    o{i} = m{i}[3]
"""
# `number_of` also has identities of memory that is gone, which new memory may have been given.
WHOLE = """
    w{i} = a{i}.ndarray
    if a{i}.steps or a{i}.buffer.whole is not w{i} or o{i} in taken or o{i} in deferred.owners or o{i} in exposed:
        return NOT_NOTED
    if id(w{i}) in deferred.number_of and deferred.number(w{i}) is not None:
        return NOT_NOTED
"""
# All of a memory in another form: a transposed weight, say.
VIEW = """
    w{i} = a{i}.buffer.whole
    if a{i}.steps != steps{i} or (w{i}.shape, w{i}.strides, w{i}.dtype) != whole{i}:
        return NOT_NOTED
    if o{i} in taken or o{i} in deferred.owners or o{i} in exposed or (
            id(w{i}) in deferred.number_of and deferred.number(w{i}) is not None):
        return NOT_NOTED
"""
OUTSIDE_VIEW = """
    if type(a{i}) is not kind{i} or a{i}._requires or a{i}._node is not None or a{i}.__dict__:
        return NOT_NOTED
    if a{i}._base is not None and a{i}.requires_grad:
        return NOT_NOTED
"""
VIEW_WITH = {"none": OUTSIDE_VIEW, "history": OUTSIDE_RESULT}
COPIED = """
    h{i} = a{i}.buffer.whole
    if o{i} not in exposed and (not a{i}.steps or a{i}.ndarray.size == h{i}.size or o{i} in taken
                                or deferred.owners.get(o{i}, id(h{i})) != id(h{i}) or
                                id(h{i}) in deferred.number_of and deferred.number(h{i}) is not None):
        return NOT_NOTED
    w{i} = copied(a{i}.ndarray)
"""
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
RESULT = """
    n{i} = empty(shape{i}, dtype{i})
    r{i}, b{i} = blank(Tensor), new(Buffer)
    b{i}.whole = r{i}.ndarray = n{i}
    b{i}.version, r{i}.buffer, r{i}.steps, r{i}.label, r{i}.place = 0, b{i}, (), None, (segment, {token})
    deferred.number_of[id(n{i})] = {memory}
"""
