"""Orders in which loaders and splits deliver the numbers 0 .. 11 (or 0 .. 9) from a given seed."""


def numbers(tg, count=12):
    return tg.utils.data.TensorDataset(tg.arange(count))


def order(loader):
    return [batch[0].tolist() for batch in loader]


def shuffled(tg):
    tg.manual_seed(5)
    return order(tg.utils.data.DataLoader(numbers(tg), batch_size=5, shuffle=True))


def two_epochs_and_a_draw(tg):
    tg.manual_seed(5)
    loader = tg.utils.data.DataLoader(numbers(tg), batch_size=6, shuffle=True)
    return [order(loader), order(loader), tg.randint(1000, (3,)).tolist()]


def draw_after_an_ordered_epoch(tg):
    tg.manual_seed(5)
    return [order(tg.utils.data.DataLoader(numbers(tg), batch_size=6)), tg.randint(1000, (3,)).tolist()]


def own_generator(tg):
    generator = tg.Generator().manual_seed(9)
    loader = tg.utils.data.DataLoader(numbers(tg), batch_size=4, shuffle=True, generator=generator)
    return [order(loader), order(loader)]


def random_sampler(tg):
    tg.manual_seed(6)
    sampler = tg.utils.data.RandomSampler(numbers(tg))
    return [list(sampler), list(sampler)]


def with_replacement(tg):
    tg.manual_seed(6)
    return list(tg.utils.data.RandomSampler(numbers(tg), replacement=True, num_samples=40))


def split(tg):
    tg.manual_seed(7)
    return [list(part.indices) for part in tg.utils.data.random_split(numbers(tg, 10), [7, 3])]


def split_by_fractions(tg):
    parts = tg.utils.data.random_split(numbers(tg, 10), [0.5, 0.3, 0.2], generator=tg.Generator().manual_seed(8))
    return [list(part.indices) for part in parts]


CASES = [
    shuffled,
    two_epochs_and_a_draw,
    draw_after_an_ordered_epoch,
    own_generator,
    random_sampler,
    with_replacement,
    split,
    split_by_fractions,
]


def make(tg):
    return {case.__name__: case(tg) for case in CASES}
