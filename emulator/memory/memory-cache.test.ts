import t from 'tap';
import { MemoryCache } from './memory-cache.js';

t.test('the least recently used value is evicted first, across regions', async (t) => {
  const cache = new MemoryCache(100);
  const [one, two] = [cache.region<string, number>((value) => value), cache.region<string, number>((value) => value)];
  const kept = () => [...'abcd'].flatMap((key) => [one.get(key), two.get(key)]).filter(Boolean);
  one.set('a', 20);
  two.set('a', 21);
  one.set('b', 22);
  two.set('b', 23);
  t.same(kept(), [20, 21, 22, 23]);
  t.equal(cache.heldBytes, 86);
  one.get('a');
  one.set('c', 24);
  t.same(kept(), [20, 22, 23, 24], 'each key of a region is its own, and the oldest of all goes');
  one.set('d', 26);
  t.equal(one.get('d'), undefined, 'more than a quarter is not kept');
  one.set('c', 1);
  t.equal(one.get('c'), 24, 'the first value of a key stays');
  one.clear();
  two.clear();
  t.equal(cache.heldBytes, 0);
});

t.test('a value in use is not evicted for values that its user adds later', async (t) => {
  const cache = new MemoryCache(100);
  const texts = cache.region<number, number>((value) => value);
  texts.set(0, 25);
  const use = {};
  for (let key = 1; key < 10; key++) texts.set(key, 25, use);
  t.same(
    Array.from({ length: 10 }, (_, key) => texts.get(key) !== undefined),
    [false, true, true, true, true, false, false, false, false, false],
  );
  const next = {};
  t.equal(texts.get(3, next), 25);
  for (let key = 10; key < 20; key++) texts.set(key, 25, next);
  t.same(
    Array.from({ length: 14 }, (_, key) => texts.get(key) !== undefined).map(Number),
    [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0],
  );
});

t.test('all values of an owner are dropped together, and none is added later', async (t) => {
  const cache = new MemoryCache(1000);
  const [first, second] = [cache.group(), cache.group()];
  const regions = [first.region<string, number>(() => 10), first.region<string, number>(() => 10)];
  const other = second.region<string, number>(() => 10);
  for (const region of [...regions, other]) region.set('a', 1);
  t.equal(cache.heldBytes, 30);
  first.close();
  t.equal(cache.heldBytes, 10);
  regions[0]!.set('b', 1);
  first.region<string, number>(() => 10).set('c', 1);
  t.equal(cache.heldBytes, 10);
  t.equal(other.get('a'), 1);
});

t.test('moving a value to another region or key keeps its age', async (t) => {
  const cache = new MemoryCache(100);
  const group = cache.group();
  const [from, to] = [group.region<number, string>(() => 20), cache.region<number, string>(() => 20)];
  for (const key of [0, 1, 2]) from.set(key, `value ${key}`);
  to.set(12, 'first');
  from.moveTo(from, (key) => 2 - key);
  t.same(
    [0, 1, 2].map((key) => from.get(key)),
    ['value 2', 'value 1', 'value 0'],
  );
  from.moveTo(to, (key) => key + 10);
  t.equal(from.get(0), undefined);
  t.same([to.get(12), cache.heldBytes], ['first', 60], 'the first value of a key stays');
  to.set(20, 'new');
  to.set(21, 'newer');
  to.set(22, 'newest');
  t.same([to.get(10), to.get(11)], [undefined, 'value 1'], 'the oldest went');
  group.close();
  to.moveTo(from, (key) => key);
  t.equal(cache.heldBytes, 0, 'a region that is closed takes nothing');
});

t.test('the cache never exceeds its limit', async (t) => {
  const cache = new MemoryCache(5000);
  const regions = Array.from({ length: 7 }, () => cache.region<number, Buffer>((buffer) => buffer.length));
  let random = 1;
  const below = (max: number) => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    return (random >>> 8) % max;
  };
  for (let step = 0; step < 20_000; step++) {
    const region = regions[below(7)]!;
    const key = below(60);
    if (below(400) === 0) region.clear();
    const found = region.get(key);
    if (found !== undefined && found[0] !== key) t.fail('another value');
    region.set(key, Buffer.alloc(1 + below(800), key), below(2) === 0 ? regions : undefined);
    if (cache.heldBytes > 5000 || cache.heldBytes < 0) t.fail(`${cache.heldBytes} bytes`);
  }
  for (const region of regions) region.clear();
  t.equal(cache.heldBytes, 0);
});
