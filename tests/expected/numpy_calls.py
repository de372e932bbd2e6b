"""Programs of one line in which tensors meet Python and numpy: conversions, numpy's functions, indices, buffers."""

import array
import collections
import decimal
import fractions
import functools
import itertools
import json
import math
import operator
import random
import statistics
import struct
import warnings

import numpy as np

from .numpy_operators import rounded

EXPRESSIONS = """
np.exp(x) | np.add(x,x) | np.add(x,a) | np.add(a,x) | np.sqrt(i) | np.isnan(x) | np.sum(x) | np.sum(x,axis=0)
np.mean(x) | np.mean(x,axis=1) | np.max(x) | np.max(x,axis=0) | np.min(x) | np.argmax(x) | np.argmax(x,axis=1)
np.prod(x) | np.std(x) | np.var(x) | np.median(x) | np.cumsum(x) | np.cumsum(x,axis=0) | np.sort(x)
np.sort(x,axis=0) | np.argsort(x) | np.unique(x) | np.where(m,x,0) | np.where(m) | np.nonzero(m) | np.dot(x,x)
np.dot(a,x) | np.matmul(x,x) | np.matmul(a,x) | np.transpose(x) | np.reshape(x,-1) | np.reshape(x,(4,)) | np.ravel(x)
np.squeeze(x) | np.concatenate([x,x]) | np.stack([x,x]) | np.vstack([x,x]) | np.hstack([x,x]) | np.clip(x,0,1)
np.round(x) | np.round(x,1) | np.abs(x) | np.linalg.norm(x) | np.linalg.inv(x) | np.allclose(x,a)
np.array_equal(x,x) | np.isclose(x,a) | np.all(m) | np.any(m) | np.all(x) | np.shape(x) | np.ndim(x) | np.size(x)
np.zeros_like(x) | np.ones_like(x) | np.full_like(x,2) | np.empty_like(x).shape | np.copy(x) | np.asarray(x)
np.array(x) | np.asarray(x,dtype=np.float64) | np.array(x,dtype=int) | np.array(x,copy=False) | np.array(x,copy=True)
np.asarray(x,copy=False,dtype='f8') | np.asarray(x) is np.asarray(x) | np.shares_memory(np.asarray(x),x.numpy())
np.shares_memory(np.array(x),x.numpy()) | np.array([x,x]) | np.array([s,s]) | np.array([s,1.0])
np.array([[s,s],[s,s]]) | np.asarray([x[0],x[1]]) | np.array([x,[[1,2],[3,4]]]) | np.array([p.item() for p in v])
np.array([r,r]) | np.array(r) | np.asarray(r) | np.exp(r) | np.sum(r) | r+a | a+r | r*a[0] | a[0,0]*r | r.numpy()
r.detach().numpy() | r.numpy(force=True) | r.tolist() | np.add(r,1) | np.stack([r,r]) | np.mean(r) | np.float64(2)*r
r*np.float64(2) | r==a | a==r | r+np.float32(1) | np.asarray(r.detach()) | np.max(r) | np.split(x,2)
np.expand_dims(x,0) | np.repeat(x,2) | np.tile(x,2) | np.outer(v,v) | np.inner(v,v) | np.trace(x) | np.diag(x)
np.flip(x) | np.roll(x,1) | np.take(x,[0]) | np.einsum('ij,jk->ik',x,x) | np.tensordot(x,x) | np.histogram(v)[0]
np.bincount(i) | np.percentile(x,50) | np.quantile(x,.5) | np.searchsorted(v,0.5) | np.interp(v,v,v) | np.corrcoef(x)
np.cov(x) | np.polyfit(v,v,1).shape | np.meshgrid(v,v)[0] | np.logical_and(m,m) | np.logical_not(m) | np.greater(x,0)
np.equal(x,x) | np.maximum(x,0) | np.minimum(0,x) | np.power(x,2) | np.float_power(x,2) | np.sign(x) | np.floor(x)
np.sin(x) | np.hypot(x,x) | np.fix(x) | np.real(x) | np.imag(x) | np.angle(x) | np.nan_to_num(x) | np.diff(x)
np.gradient(v) | np.trapezoid(v) | np.cross(v,v) | np.kron(x,x) | np.convolve(v,v) | np.pad(x,1) | np.delete(x,0)
np.append(x,1) | np.insert(v,0,1.) | np.amax(x) | np.ptp(x) | np.count_nonzero(x) | np.average(x)
np.average(v,weights=v) | np.isin(x,[1.]) | np.broadcast_to(x,(2,2,2)).shape | np.atleast_2d(v) | np.moveaxis(x,0,1)
np.swapaxes(x,0,1) | np.ascontiguousarray(x) | np.asfortranarray(x) | np.result_type(x)
np.issubdtype(x.numpy().dtype,np.floating) | np.iterable(x) | np.isscalar(s) | np.isscalar(x)
np.testing.assert_allclose(x,x) | np.testing.assert_array_equal(x,a) | np.add.reduce(x) | np.add.accumulate(v)
np.multiply.outer(v,v) | np.add.at(a.copy(),0,v) | np.exp(x,out=a.copy()) | np.add(x,1,out=np.zeros((2,2)))
np.exp(x,out=x) | np.vectorize(lambda q:q+1)(x) | np.apply_along_axis(np.sum,0,x)
np.frompyfunc(lambda q:q,1,1)(v).dtype | np.sum([v,v]) | np.mean([s,s]) | np.max([s,s]) | np.divmod(v,v) | np.modf(v)
np.frexp(v) | np.sum(m) | np.random.default_rng(0).choice(v,2) | np.random.default_rng(0).permutation(v)
np.linspace(s0,1,3) | np.arange(n) | np.zeros(n) | np.zeros((n,n)) | np.eye(n) | np.full((2,),s)
np.random.default_rng(0).normal(v) | np.ones(3)[n] | np.ones(3)[i] | np.arange(4)[iv] | np.arange(2)[mv]
list(range(n)) | [1,2,3,4][n] | [1,2,3,4][n:] | 'ab'*n | float(s) | int(s) | complex(s) | bool(s) | round(s)
round(s,1) | round(x) | round(n) | abs(s) | divmod(v,2) | divmod(2,v) | divmod(v,v) | math.sqrt(s) | math.exp(s)
math.floor(s) | math.ceil(s) | math.trunc(s) | math.isnan(s) | math.isclose(s,s) | math.log(n) | math.gcd(n,n)
math.factorial(n) | math.fsum(v) | math.hypot(s,s) | math.pow(s,2) | math.floor(x) | math.floor(n) | math.prod(v)
math.dist(v,v) | math.comb(n,1) | operator.index(n) | operator.index(s) | operator.index(b0) | operator.index(iv)
hex(n) | bin(n) | oct(n) | chr(n) | len(x) | len(s) | list(v) | list(s) | [*iv] | 1.0 in v | 9. in v | s in v | v in x
'a' in v | None in v | iv[0] in [1,2] | bool(x) | bool(e) | bool(v[:1]) | float(x) | int(v[:1]) | float(e)
complex(x) | int(n) | float(b0) | str(s) | repr(v) | f'{s}' | f'{s:.2f}' | f'{n:03d}' | f'{x}' | f'{x:.2f}'
f'{v[:1]:.2f}' | '%f' % s | '%d' % n | '%s' % v | '%.2f' % v[0] | '{:.3e}'.format(s) | '%d' % s | f'{b0}' | f'{b0:d}'
f'{n:,}' | f'{s!r}' | format(s) | f'{s:>8.3f}' | f'{c:.2f}' | str(c) | sum(v) | sum([v,v]) | sum([x,x],x) | max(v)
min(v) | sorted(v) | sorted([s,s0]) | sorted(x) | max(x) | list(zip(v,iv)) | list(zip(*x)) | list(enumerate(v))
list(map(float,v)) | any(v) | all(v) | list(reversed(v)) | set([s]).__len__() | {s:1}[s] | hash(s)==id(s) | s is s
dict(a=s)['a'] | tuple(x) | functools.reduce(operator.mul,v) | [q for q in x if q.sum()>0]
list(itertools.accumulate(v)) | statistics.mean([float(q) for q in v]) | random.Random(0).choice(v)
isinstance(s,collections.abc.Iterable) | isinstance(s,collections.abc.Sized) | isinstance(s,collections.abc.Hashable)
callable(s) | min(s,s0) | max([s,1.]) | (s>0)==True | s==s0 | s!=s0 | x==x | x=='a' | x!='a' | x==None | x!=None
s<'a' | x==[1,2] | not s | s and 1 | s or 1 | s if s else 0 | v<None | decimal.Decimal(s) | decimal.Decimal(s.item())
fractions.Fraction(s.item()) | struct.pack('f',s) | array.array('f',v) | bytes(u8) | bytearray(u8) | memoryview(x)
bytes(n) | int.from_bytes(u8,'little') | 'abc'[n] | range(n) | slice(n).indices(3) | json.dumps(s)
json.dumps(s.item()) | json.dumps(v.tolist()) | complex(c) | float(c) | int(c) | abs(c) | round(c) | s.item()
x.item() | e.item() | v.tolist() | s.tolist() | b0.item() | c.item() | x.numpy() | bf.tolist() | bf.numpy()
bf.float().numpy() | np.asarray(bf) | np.array(bf) | bf+np.ones(2) | np.exp(bf) | f16.numpy() | s.numpy() | b0.numpy()
c.numpy() | e.numpy() | x.t().numpy() | x[:,0].numpy() | x.expand(2,2,2).numpy().shape | x.numpy().flags.writeable
x.numpy(force=True) | x.numpy(True) | cj.numpy() | np.asarray(cj) | cj.numpy(force=True) | x.__array__()
x.__array__(np.float64) | x.__array__('f8') | x.__array__(dtype=np.float32) | x.__array__().dtype
x.__array_priority__ | hasattr(x,'__array_ufunc__') | hasattr(x,'__array_function__')
hasattr(x,'__array_interface__') | hasattr(x,'__array_struct__') | x.__array_wrap__(np.ones(2))
x.__array_wrap__(np.ones(2,bool)) | hasattr(x,'__dlpack__') | hasattr(x,'__buffer__')
hasattr(x,'__cuda_array_interface__') | x.__dlpack_device__() | tg.tensor(a) | tg.tensor(np.float64(1))
tg.tensor(np.float32(1)) | tg.tensor(np.int32(1)) | tg.tensor(np.bool_(1)) | tg.tensor(np.array(1.0))
tg.tensor([np.float32(1)]) | tg.tensor([np.float64(1)]) | tg.tensor([np.int32(1)]) | tg.tensor([np.float32(1),1.0])
tg.tensor([np.ones(2),np.zeros(2)]) | tg.tensor([np.ones(2),np.zeros(3)]) | tg.tensor([s,s]) | tg.tensor([s,1])
tg.tensor([n,n]) | tg.tensor([n,s]) | tg.tensor([x,x]) | tg.tensor([v[:1],v[:1]]) | tg.tensor([[s,s],[s,s]])
tg.tensor(s) | tg.tensor(x) | tg.tensor((s,n)) | tg.tensor([r.sum(),1.]) | tg.tensor(range(3)) | tg.tensor({1})
tg.tensor({1:2}) | tg.tensor('a') | tg.tensor(None) | tg.tensor([None]) | tg.tensor(['a'])
tg.tensor(np.array(['a'])) | tg.tensor(np.array([1,None])) | tg.tensor(np.array('2020','M8[D]'))
tg.tensor(np.array([1,2],'>i4')) | tg.tensor(np.array([1,2],'u2')) | tg.tensor(np.ones(2,'g')) | tg.tensor(a[::-1])
tg.tensor(a.T) | tg.tensor(iter([1])) | tg.tensor(memoryview(b'ab')) | tg.tensor(b'ab') | tg.tensor(bytearray(b'ab'))
tg.tensor(array.array('f',[1.,2.])) | tg.tensor(np.ma.array([1,2])) | tg.tensor(np.matrix([[1,2]]))
tg.tensor(np.array([(1,2)],dtype=[('a',int),('b',int)])) | tg.tensor(collections.deque([1,2]))
tg.tensor(collections.UserList([1,2])) | tg.tensor(decimal.Decimal(1)) | tg.tensor(fractions.Fraction(1,2))
tg.tensor([decimal.Decimal(1)]) | tg.tensor([[1,2],[3]]) | tg.tensor([]) | tg.tensor([[]])
tg.tensor([np.array(1.),2]) | tg.tensor(np.float16(1)) | tg.tensor(np.uint8(1)) | tg.tensor(np.complex64(1j))
tg.tensor(True) | tg.tensor([True,1]) | tg.tensor([1,2.]) | tg.tensor([1,1j]) | tg.tensor(2**63) | tg.tensor([2**63])
tg.tensor(2**63-1) | tg.tensor(a,dtype=tg.int32) | tg.tensor(a,dtype=np.int32) | tg.tensor(HasArray())
tg.tensor([HasArray()]) | tg.tensor(HasInterface()) | tg.tensor(HasItems()) | tg.from_numpy(a)
tg.from_numpy(readonly) | tg.from_numpy(a[::-1]) | tg.from_numpy(a.T) | tg.from_numpy(a[:,::2])
tg.from_numpy(np.array([1,2],'>i4')) | tg.from_numpy(np.array([1,2],'u2')) | tg.from_numpy(np.array([1,2],'u4'))
tg.from_numpy(np.array([1,2],'u8')) | tg.from_numpy(np.ones(2,'g')) | tg.from_numpy(np.ones(2,'f2'))
tg.from_numpy(np.ones(2,bool)) | tg.from_numpy(np.ones(2,'F')) | tg.from_numpy(np.array(['a']))
tg.from_numpy(np.array([None])) | tg.from_numpy([1]) | tg.from_numpy(x) | tg.from_numpy(1.0)
tg.from_numpy(np.float32(1)) | tg.from_numpy(np.array(1.)) | tg.from_numpy(np.zeros((0,3)))
tg.from_numpy(np.broadcast_to(np.ones(1),(3,))) | tg.from_numpy(np.ma.array([1,2]))
tg.from_numpy(np.matrix([[1,2]])) | tg.from_numpy(np.ndarray((2,),'f4',bytes(9),1))
tg.from_numpy(np.array([(1,2.)],dtype=[('a','i4'),('b','f8')])['b']) | tg.as_tensor(a)
np.shares_memory(tg.as_tensor(a).numpy(),a) | np.shares_memory(tg.as_tensor(a,dtype=tg.float32).numpy(),a)
np.shares_memory(tg.as_tensor(a,dtype=tg.float64).numpy(),a) | tg.as_tensor(x) is x
tg.as_tensor(x,dtype=x.dtype) is x | tg.as_tensor([1,2]) | tg.as_tensor(np.float32(2)) | tg.as_tensor(a[::-1])
tg.as_tensor([a,a]).shape | tg.as_tensor(s) is s | tg.as_tensor([s,s]) | tg.as_tensor('a') | tg.as_tensor(None)
tg.as_tensor(np.array([1],'>i4')) | tg.as_tensor(a, dtype=tg.int64) | tg.as_tensor(memoryview(b'ab')) | tg.asarray(a)
np.shares_memory(tg.asarray(a).numpy(),a) | np.shares_memory(tg.asarray(a,copy=True).numpy(),a)
tg.asarray(a,copy=False,dtype=tg.float32) | tg.asarray([1,2],copy=False) | tg.asarray(x) is x
tg.asarray(x,copy=True) is x | tg.asarray(r).requires_grad | tg.asarray(r,requires_grad=True).requires_grad
tg.asarray(b'abcd',dtype=tg.uint8) | tg.asarray(b'abcd') | tg.asarray(np.float32(1)) | tg.asarray(1.5)
tg.asarray(None) | tg.asarray([s,s]) | tg.asarray(a[::-1]) | tg.asarray(bytearray(b'abcd'),dtype=tg.int32)
tg.asarray(HasArray()) | tg.asarray(HasInterface()) | tg.frombuffer(bytearray(b'abcdefgh'),dtype=tg.int32)
tg.frombuffer(bytearray(b'abcdefgh'),dtype=tg.int32,count=1,offset=4)
tg.frombuffer(bytearray(b'abc'),dtype=tg.int32) | tg.frombuffer(bytearray(b''),dtype=tg.int32)
tg.frombuffer(a,dtype=tg.float64) | tg.frombuffer(b'abcd',dtype=tg.uint8)
tg.frombuffer(array.array('f',[1,2]),dtype=tg.float32) | tg.frombuffer(memoryview(bytearray(4)),dtype=tg.int16)
tg.frombuffer(x,dtype=tg.float32) | tg.frombuffer(1,dtype=tg.int32)
tg.frombuffer(bytearray(8),dtype=tg.int32,offset=8) | tg.frombuffer(bytearray(8),dtype=tg.int32,count=3)
tg.frombuffer(bytearray(8),dtype=tg.int32,offset=-1)
tg.frombuffer(bytearray(8),dtype=tg.float32,requires_grad=True).requires_grad
tg.frombuffer(bytearray(8),dtype=tg.int32,count=0) | tg.frombuffer(bytearray(8)) | tg.Tensor(a)
tg.Tensor(np.float32(3)) | tg.Tensor([s,s]) | tg.FloatTensor(a) | tg.LongTensor(a) | tg.LongTensor(np.array([1,2]))
tg.FloatTensor(np.ones(2,'f')) | tg.Tensor(a[::-1]) | tg.Tensor([np.float32(1),2]) | tg.Tensor([v,v])
tg.full((2,),np.float32(2)) | tg.full((2,),s) | tg.zeros(n) | tg.zeros(n,n) | tg.zeros((n,2)) | tg.zeros(np.int64(2))
tg.zeros(np.array([2,3])) | tg.zeros(tuple(np.array([2,3]))) | tg.arange(n) | tg.arange(np.float32(2)) | tg.arange(s)
tg.ones(s) | tg.linspace(s0,1,3) | tg.linspace(0,1,n) | tg.eye(n) | x.reshape(n*2) | x.view(n,2) | x.sum(n-3)
x.sum(np.int64(0)) | x.reshape(np.int64(4)) | x.reshape(np.array([4,1])) | x.repeat(n,1)
x.permute(np.int64(1),np.int64(0)) | v[n-1] | x[np.int64(0)] | x[np.array([0,1])] | x[np.array(0)]
x[[0,1],np.array([0,1])] | x[np.array([True,False])] | x[np.bool_(True)] | x[np.array(True)] | v[np.array([-1])]
x[np.array([0],'u1')] | x[np.array([0],'i4')] | x[np.array([0.])] | v[a[0]] | v[np.float32(1)] | v[s] | v[iv] | v[mv]
a[i] | a[m] | a[n-2] | np.arange(5)[n:] | assigned(x,np.array([0]),5.) | assigned(x,0,a[0])
assigned(x,m,np.float32(9)) | assigned(x,0,np.array([1],'>i4')) | assigned(x,0,[5.,6.]) | assigned(x,0,a[0].tolist())
assigned(a.copy(),0,v) | assigned(a.copy(),m,s) | assigned(a.copy(),0,r[0]) | assigned(np.zeros(2,'f'),0,s)
assigned(np.zeros(2,'f'),slice(None),bf) | assigned(np.zeros(2,object),0,s) | assigned(x,0,'a')
assigned(x,np.bool_(True),1.) | x.add(np.float32(1)) | x.add(a) | x.mul(np.float64(2)) | tg.add(x,a)
tg.mul(np.float64(2),x) | tg.mul(a,x) | tg.maximum(x,a) | tg.where(m,x,np.float32(0)) | tg.where(m,a,a)
tg.clamp(x,np.float32(0),np.float64(1)) | tg.clamp(x,s0,s) | tg.sum(a) | tg.exp(a) | tg.stack([a,a]) | tg.cat([a])
tg.pow(x,np.float32(2)) | tg.pow(np.float32(2),x) | x.fill_(np.float32(2)) | x.fill_(s) | x.fill_(a)
x.masked_fill(m,np.float32(2)) | x.masked_fill(m,s) | x.copy_(a) | x.copy_(x) | tg.isclose(x,a) | tg.equal(x,a)
tg.allclose(x,a) | tg.is_tensor(a) | x.new_tensor(a) | x.new_tensor([1,2]) | x.new(a) | x.new_full((2,),np.float64(2))
x.type(np.float32) | x.to(np.float64) | x.to('float64') | x.astype('f4') | x.dtype==np.float32
tg.zeros(2,dtype=np.float32) | tg.zeros(2,dtype='float32') | tg.zeros(2,dtype=float) | tg.zeros(2,dtype=int)
tg.zeros(2,dtype=bool) | tg.tensor([1],dtype=np.dtype('f4')) | x.size | x.shape==(2,2) | x.shape==np.shape(a)
tuple(x.shape) | np.prod(x.shape) | np.zeros(x.shape).shape | np.ones(x.size()).shape | x.T | x.nonzero() | x.copy()
x.tobytes() | x.ravel() | x.flat | x.ndim | x.itemsize | x.nbytes | x.strides | x.data | x.base | x.flags | x.round()
x.dot | x.std() | x.ptp | x.astype | v.argsort() | x.view(np.float64) | tg.lerp(x,x,np.float32(.5))
tg.addcmul(x,x,x,value=np.float32(2)) | x.add(x,alpha=np.float32(2)) | x.add(x,alpha=s) | x.sub_(np.float64(1))
tg.clamp(x,min=np.float64(0)) | tg.full_like(x,np.float64(2)) | tg.randint(0,np.int64(5),(2,)).shape
tg.roll(x,np.int64(1)) | tg.topk(v,n-1) | tg.topk(v,np.int64(1)) | tg.split(x,np.int64(1)) | tg.unbind(x,np.int64(0))
tg.nn.functional.one_hot(iv,np.int64(3)) | tg.nn.functional.dropout(x,np.float32(0))
tg.nn.functional.pad(x,(np.int64(1),n)) | tg.nn.Linear(np.int64(2),n).weight.shape
tg.nn.functional.leaky_relu(x,np.float32(.1)) | tg.softmax(x,np.int64(0)) | tg.mean(x,dim=np.int64(0))
tg.mean(x,dim=(np.int64(0),)) | tg.sum(x,n-2) | x.unsqueeze(n-2) | x.transpose(np.int64(0),np.int64(1))
tg.chunk(x,n) | x.expand(n,2,2).shape | x.narrow(0,n-2,1) | x.select(0,n-2) | x.index_select(0,np.array([0]))
x.gather(0,np.array([[0]])) | tg.einsum('ij,jk',x,a) | tg.nn.functional.mse_loss(x,a)
tg.nn.functional.cross_entropy(x,np.array([0,1])) | tg.matmul(x,a) | x@a | a@x | v@a | a@v | x.mm(a)
"""


class HasArray:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0])


class HasInterface:
    memory = np.array([1.0, 2.0])
    __array_interface__ = memory.__array_interface__


class HasItems:
    def __len__(self):
        return 2

    def __getitem__(self, i):
        if i > 1:
            raise IndexError
        return i


def assigned(target, index, value):
    """`target` after ``target[index] = value``."""
    target[index] = value
    return target


MODULES = (
    array, collections, decimal, fractions, functools, itertools, json, math, operator, random, statistics, struct,
)  # fmt: skip


def names(tg):
    """What the expressions speak of."""
    a = np.array([[1.0, -2.0], [3.0, 0.5]])
    readonly = a.copy()
    readonly.flags.writeable = False
    return {
        **{module.__name__: module for module in MODULES},
        **{"tg": tg, "np": np, "HasArray": HasArray, "HasInterface": HasInterface, "HasItems": HasItems},
        **{"assigned": assigned, "a": a, "readonly": readonly},
        "x": tg.tensor([[1.0, -2.0], [3.0, 0.5]]),
        "r": tg.tensor([[1.0, -2.0], [3.0, 0.5]], requires_grad=True),
        "i": tg.tensor([0, 1]),
        "iv": tg.tensor([1, 0]),
        "m": tg.tensor([[True, False], [True, True]]),
        "mv": tg.tensor([True, False]),
        "v": tg.tensor([1.5, -2.5]),
        "s": tg.tensor(2.25),
        "s0": tg.tensor(0.0),
        "n": tg.tensor(2),
        "b0": tg.tensor(True),
        "e": tg.tensor([]),
        "c": tg.tensor(1 + 2j),
        "cj": tg.tensor([1 + 2j]).conj(),
        "bf": tg.tensor([1.0, 2.0], dtype=tg.bfloat16),
        "f16": tg.tensor([1.0, 2.0], dtype=tg.float16),
        "u8": tg.tensor([1, 2], dtype=tg.uint8),
    }


def described(value):
    """The class, type and numbers of a result, or of what is in it."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype == object:
            return "objects " + "; ".join(map(described, value.ravel()))
        kind = "array" if isinstance(value, np.ndarray) else "number"
        return f"{kind} {value.dtype} {rounded(value.tolist())}"
    if hasattr(value, "detach") and hasattr(value, "tolist"):
        text = f"Tensor {str(value.dtype).rpartition('.')[2]} {rounded(value.tolist())}"
        return f"{text} with gradient" if value.requires_grad else text
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(described, value))})"
    if callable(value):
        return "callable"
    return repr(rounded(value))[:90].replace("tracegrad.", "torch.")


def outcome(tg, expression):
    """The result, or the class of what is raised."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return described(eval(expression, names(tg)))
    except TypeError:
        return "TypeError"  # numpy's is a class of its own
    except Exception as error:  # whatever is raised is the answer
        return type(error).__name__


def expressions():
    return [text.strip() for line in EXPRESSIONS.strip().splitlines() for text in line.split(" | ")]


def make(tg):
    return {expression: outcome(tg, expression) for expression in expressions()}
