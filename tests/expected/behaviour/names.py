"""Bit shifts, quantiles, and containers of parameters."""

INTEGERS = "T([1,-5,7,2**40])|T([1,-5,7,3],dtype=tg.int32)|T([True,False])|T(3)".split("|")
AMOUNTS = "1|0|40|-1|True|T([1,2,64,-1])|T(2)|T([1,2],dtype=tg.int32)|T([True,False])".split("|")
SHIFTS = (
    "{x} << {y}|{x} >> {y}|tg.bitwise_left_shift({x},{y})|{x}.bitwise_right_shift({y})|r={x}; r <<= {y}; r"
).split("|")
ROWS = (
    "T([1.,3.,2.,8.])|T([[1.,3.,2.],[4.,nan,6.]])|T([[5.,1.],[2.,2.]],dtype=tg.float64)|T(3.)|T([1,2])|tg.ones(0)"
).split("|")
SHARES = "0.5|0.3|0|1|1.5|T([.1,.9])|T(.25)|T([.5],dtype=tg.float64)|T([[.5]])|T([2.])".split("|")
OPTIONS = [
    "", ",0", ",-1", ",1", ",0,True", ",None,True", ",0,interpolation='lower'", ",0,interpolation='higher'",
    ",0,interpolation='midpoint'", ",0,interpolation='nearest'", ",0,interpolation='cubic'",
]  # fmt: skip
OTHERS = (
    "tg.heaviside(T([-1.,0.,2.,nan,-0.]),T(.5))|tg.heaviside(T([0,1]),T([3,4]))|tg.heaviside(T([0]),T([.5]))"
    "|tg.heaviside(T([0.]),.5)|T([0.,1.]).heaviside(T([5.]))|tg.renorm(T([[3.,4.],[.1,.2]]),2,0,1.)"
    "|tg.renorm(T([[3.,4.],[.1,.2]]),1,1,.5)|tg.renorm(T([1.]),2,0,1.)|tg.renorm(tg.ones(2,2),-1,0,1.)"
    "|tg.renorm(tg.ones(2,2),2,0,-1.)|tg.renorm(tg.ones(2,2).long(),2,0,1.)|tg.renorm(tg.ones(2,3,2),2,-1,1.)"
    "|x=T([[3.,4.],[.1,.2]],requires_grad=True); tg.renorm(x,2,0,1.)[:,0].sum().backward(); x.grad"
    "|x=T([3.,1.,2.],requires_grad=True); tg.quantile(x,.3).backward(); x.grad"
    "|x=T([[3.,1.],[2.,5.]],requires_grad=True); x.quantile(T([.3,.6]),1).sum().backward(); x.grad"
    "|x=T([3.,nan,2.],requires_grad=True); x.nanquantile(.4).backward(); x.grad"
).split("|")
DICT = "d=nn.ParameterDict({'b':tg.ones(2),'a':tg.zeros(3)})"
LIST = "l=nn.ParameterList([tg.ones(2),nn.Parameter(tg.zeros(3))])"
OF_DICTS = (
    "list(d)|len(d)|[n for n,_ in d.named_parameters()]|d['a'].requires_grad|d['c']|'a' in d|list(reversed(d))"
    "|d.setdefault('z',tg.ones(1))|d.get('q',5)|d.pop('b')|list(d.copy().keys())|d.popitem()[0]|d.clear(); len(d)"
    "|list((d.__or__(nn.ParameterDict({'k':tg.ones(1)}))).keys())|d.fromkeys(['x','y'],3)['x']|d.update(5)|d[1]|d(3)"
    "|d.update({'q':tg.ones(1),'e':4}); list(d)|d.update([('m',tg.ones(1))]); list(d)|list(d.state_dict())"
    "|[tuple(p.shape) for p in d.values()]|del d['a']; list(d)|del d['z']"
    "|d['a']=tg.ones(1); [tuple(p.shape) for p in d.values()]"
    "|d.load_state_dict({'a':tg.ones(3),'b':tg.zeros(2)}); d['a'].tolist()"
)
OF_LISTS = (
    "len(l)|l[-1]|l[5]|l.append(tg.ones(4)); len(l)|l.append(3); [len(l),l[2]]|[p.shape[0] for p in l[1:]]"
    "|l.extend(tg.ones(2))|l.extend(5)|l.extend([tg.ones(1)]); len(l)|l.insert(0,1)|l(1)|l[0]=tg.ones(1); l[0]"
    "|[n for n,_ in l.named_parameters()]|nn.ParameterList(5)|l+=[tg.ones(1)]; len(l)|list(l.state_dict())"
    "|l.append('a'); l[2]"
    "|[p.is_leaf for p in l]|sum(p.sum() for p in l)"
)


def programs():
    for integers in INTEGERS:
        for amount in AMOUNTS:
            yield from (form.format(x=integers, y=amount) for form in SHIFTS)
    for amount in AMOUNTS[:5]:
        yield f"8 >> T([1]) << {amount}"
    yield from ("T([1,2]) << 1.5", "T([1.5]) << 1", "T([1.5]) >> 1.5", "1.5 << T([1])")
    for rows in ROWS:
        for i, share in enumerate(SHARES):
            for name in ("quantile", "nanquantile"):
                yield from (f"tg.{name}({rows},{share}{options})" for options in OPTIONS[: None if i == 5 else 3])
    yield from OTHERS
    yield from (f"{DICT}; {form}" for form in OF_DICTS.split("|"))
    yield from (f"{LIST}; {form}" for form in OF_LISTS.split("|"))
