import t from 'tap';
import type { Fault } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import type { RequestFacts } from './request-facts.js';
import { OPERATIONS, operationOf } from './test/facts.js';
import { CONFLICT, OUTAGE, START, World } from './test/world.js';

t.test('without registered faults, requests are not examined', async (t) => {
  const world = new World();
  t.equal(world.faults.isIdle, true);
  const [id] = world.add({ do: CONFLICT });
  t.equal(world.faults.isIdle, false);
  world.faults.remove(id!);
  t.equal(world.faults.isIdle, true);
});

t.test('skip, times and every count the requests that match', async (t) => {
  const rows: readonly (readonly [when: Fault['when'], met: string])[] = [
    [{}, '111111'],
    [{ times: 2 }, '110000'],
    [{ skip: 2 }, '001111'],
    [{ skip: 1, times: 2 }, '011000'],
    [{ every: 2 }, '010101'],
    [{ every: 2, times: 2, skip: 1 }, '001010'],
  ];
  for (const [when, met] of rows) {
    const world = new World();
    world.add({ ...(when && { when }), do: CONFLICT, match: { repo: 'team/*' } });
    world.fire({ repositoryName: 'other' });
    t.equal(Array.from(met, () => (world.fire() === '' ? '0' : '1')).join(''), met, JSON.stringify(when));
  }
});

t.test('when.by gives each part its own counter', async (t) => {
  const two = { claims: { sub: 'bob', scopes: [] }, kid: undefined, key: { algorithm: 'ES256' }, payload: {} };
  const rows: readonly (readonly [by: NonNullable<NonNullable<Fault['when']>['by']>, other: Partial<RequestFacts>])[] =
    [
      [['token'], { verified: two }],
      [['repo'], { repositoryName: 'other' }],
      [['op'], { operation: operationOf('commitPack') }],
      [['connection'], { connection: 'connection-2' }],
      [['rule', 'repo'], { repositoryName: 'other' }],
    ];
  for (const [by, other] of rows) {
    const world = new World();
    world.add({ when: { times: 1, by }, do: CONFLICT });
    const met = [world.fire(), world.fire(other), world.fire(), world.fire(other)];
    t.same(met, ['fault-1', 'fault-1', '', ''], by.join());
  }
  const world = new World();
  world.add({ when: { times: 1 }, do: CONFLICT });
  t.same([world.fire(), world.fire({ repositoryName: 'other' })], ['fault-1', ''], 'by default it is one counter');
});

t.test('a sequence has one entry for each request, and then nothing more', async (t) => {
  const world = new World();
  world.add({ sequence: [OUTAGE, CONFLICT, 'pass', OUTAGE], when: { skip: 1 } });
  const met = Array.from({ length: 7 }, () => world.arm().take('before')[0]?.action);
  t.same(met, [undefined, OUTAGE, CONFLICT, undefined, OUTAGE, undefined, undefined]);
  t.match(world.faults.get('fault-1'), {
    matched: 7,
    fired: 3,
    remaining: 0,
    skippedBecause: { skip: 1, exhausted: 2 },
  });
});

t.test('chance depends on the seed and the number of the request, not on other requests', async (t) => {
  const draw = (seed: string, chance: number, beside = false) => {
    const world = new World(seed);
    world.add({ id: 'rare', when: { chance }, do: CONFLICT });
    if (beside) world.add({ id: 'other', priority: -1, when: { chance: 0.5 }, do: { latency: { ms: 1 } } });
    return Array.from({ length: 200 }, () => (world.fire().includes('rare') ? 1 : 0));
  };
  t.same(draw('1', 0.5), draw('1', 0.5));
  t.same(draw('1', 0.5), draw('1', 0.5, true), 'with another fault beside');
  t.notSame(draw('1', 0.5), draw('2', 0.5), 'another seed');
  for (const chance of [0.1, 0.5, 0.9]) {
    const met = draw('1', chance).reduce<number>((sum, one) => sum + one, 0) / 200;
    t.ok(Math.abs(met - chance) < 0.12, `${chance}: ${met}`);
  }
  t.equal(draw('1', 1).indexOf(0), -1);
});

t.test('random delays depend on the seed and the number of the request, and have the given distribution', async (t) => {
  const { ms, jitter } = { ms: 100, jitter: 50 };
  const delays = (seed: string, dist: 'uniform' | 'normal' | 'lognormal', beside = false) => {
    const world = new World(seed);
    world.add({ id: 'slow', do: [{ latency: { ms, jitter, dist } }, { latency: { ms, jitter, dist } }] });
    if (beside) world.add({ id: 'other', priority: 1, do: { latency: { ms: 1, jitter: 1 } } });
    return Array.from({ length: 500 }, () =>
      world
        .arm()
        .take('before')
        .flatMap(({ id, action }) => (id === 'slow' && 'latency' in action ? [action.latency] : [])),
    );
  };
  for (const dist of ['uniform', 'normal', 'lognormal'] as const) {
    const drawn = delays('1', dist);
    t.same(drawn, delays('1', dist, true), 'the same seed, with another fault beside');
    t.notSame(drawn, delays('2', dist), 'another seed');
    t.ok(drawn.filter(([one, two]) => one!.ms !== two!.ms).length > 400, 'each action has its own delay');
    const all = drawn.flat().map((latency) => latency.ms);
    t.ok(
      all.every((one) => Number.isInteger(one) && one >= 0),
      dist,
    );
    const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
    const deviation = Math.sqrt(all.reduce((sum, one) => sum + (one - mean) ** 2, 0) / all.length);
    t.ok(Math.abs(mean - ms) < 6, `${dist}: mean ${mean}`);
    const wanted = dist === 'uniform' ? jitter / Math.sqrt(3) : jitter;
    t.ok(Math.abs(deviation - wanted) < 6, `${dist}: deviation ${deviation}`);
    if (dist === 'uniform') t.same([Math.min(...all) >= 50, Math.max(...all) <= 150], [true, true]);
  }
});

t.test('when.from and when.until are times of the clock, and ttl removes a fault', async (t) => {
  const world = new World();
  world.add({ when: { from: 'PT10S', until: '2026-01-01T00:00:20Z' }, do: CONFLICT });
  world.add({ ttl: 'PT30S', do: { latency: { ms: 1 } } });
  const at = (seconds: number) => {
    world.time = START + seconds * 1000;
    return world.fire();
  };
  t.same([0, 9.999, 10, 19.999, 20, 29.999, 30].map(at), [
    'fault-2',
    'fault-2',
    'fault-2 fault-1',
    'fault-2 fault-1',
    'fault-2',
    'fault-2',
    '',
  ]);
  t.match(
    world.faults.list(),
    [{ id: 'fault-1', matched: 7, skippedBecause: { window: 5 } }],
    'it is no longer listed',
  );
  t.equal(world.faults.get('fault-2'), undefined);
  const context = { where: 'x', operations: OPERATIONS, inBand: 'claim' } as const;
  const written = { text: '{}', name: 'brief', fault: { ttl: 'PT1S', do: CONFLICT } };
  const ask = () => {
    const request = world.arm();
    request.add([world.faults.asked(written, context)]);
    return request.take('before').length;
  };
  const before = ask();
  world.time += 1000;
  t.same([before, ask()], [1, 0], 'so is one that requests ask for');
});

t.test('a disabled fault affects no requests and counts none, and continues where it stopped', async (t) => {
  const world = new World();
  world.add({ when: { times: 2 }, do: CONFLICT });
  world.add({ enabled: false, do: { latency: { ms: 1 } } });
  t.equal(world.fire(), 'fault-1');
  const off = world.faults.patch('fault-1', { enabled: false }, OPERATIONS);
  t.match(off, { enabled: false, text: 'conflict*2;enabled=false', matched: 1, fired: 1, remaining: 1 });
  t.same([world.fire(), world.fire()], ['', '']);
  t.match(world.faults.get('fault-1'), { matched: 1, fired: 1, remaining: 1, requestIds: ['req-1'] });
  t.match(world.faults.get('fault-2'), { enabled: false, matched: 0 });
  const on = world.faults.patch('fault-1', { enabled: true }, OPERATIONS);
  t.match(on, { enabled: true, text: 'conflict*2', fired: 1, remaining: 1 });
  t.same([world.fire(), world.fire()], ['fault-1', '']);
});

t.test('a change restarts the times of a fault only if it sets them', async (t) => {
  const world = new World();
  world.add({ ttl: 'PT30S', when: { from: 'PT10S' }, do: CONFLICT });
  const at = (seconds: number) => {
    world.time = START + seconds * 1000;
    return world.fire();
  };
  at(9);
  for (const enabled of [false, true]) world.faults.patch('fault-1', { enabled }, OPERATIONS);
  t.same([at(9), at(10)], ['', 'fault-1']);
  world.faults.patch('fault-1', { when: { from: 'PT5S' } }, OPERATIONS);
  t.same([at(14), at(15), at(29), at(30)], ['', 'fault-1', 'fault-1', '']);
  world.add({ ttl: 'PT1S', do: CONFLICT });
  world.faults.patch('fault-2', { ttl: 'PT5S' }, OPERATIONS);
  t.same([at(34), at(35)], ['fault-2', '']);
});

t.test('faults carried by requests are counted per text, caller and scenario', async (t) => {
  const world = new World();
  const ask = (text: string, given: Partial<RequestFacts> = {}) => world.fire(given, [text]);
  t.same([ask('conflict*1'), ask('conflict*1'), ask('conflict')], ['conflict', '', 'conflict-2']);
  t.equal(ask('conflict*1', { repositoryName: 'other' }), 'conflict');
  t.equal(
    ask('conflict*1', {
      verified: { claims: { sub: 'bob', scopes: [] }, kid: undefined, key: { algorithm: 'ES256' }, payload: {} },
    }),
    'conflict',
  );
  t.equal(ask('conflict*1', { organizationName: 'other' }), 'conflict');
  t.equal(ask('conflict*1', { scenario: 's1' }), 'conflict');
  t.equal(ask('conflict*1', { scenario: 's1' }), '');
  t.match(world.faults.list(), [
    { id: 'conflict', source: 'in-band', text: 'conflict*1', matched: 7, fired: 5, remaining: 0 },
    { id: 'conflict-2', source: 'in-band', text: 'conflict', matched: 1, fired: 1, remaining: null },
  ]);
  t.equal(world.faults.remove('conflict'), true);
  t.equal(ask('conflict*1'), 'conflict', 'deleted, it begins anew');
  t.equal(world.faults.isIdle, true, 'those who ask for nothing meet nothing');
});

t.test('another scenario resets the counters of its caller only', async (t) => {
  const world = new World();
  const caller = (sub: string) => `demo\0team/app\0${sub}`;
  const ask = (sub: string, scenario: string) => {
    world.faults.enterScenario(caller(sub), scenario);
    const verified = { claims: { sub, scopes: [] }, kid: undefined, key: { algorithm: 'ES256' }, payload: {} };
    return world.fire({ verified, scenario }, ['conflict*1']);
  };
  t.same([ask('ada', 's1'), ask('ada', 's1'), ask('bob', 's1')], ['conflict', '', 'conflict']);
  t.same([ask('ada', 's2'), ask('ada', 's1'), ask('ada', 's1'), ask('bob', 's1')], ['conflict', 'conflict', '', '']);
});

t.test('a fault can be added, changed, replaced and removed', async (t) => {
  const world = new World();
  t.same(world.add({ do: CONFLICT }, { id: 'mine', do: CONFLICT }, { do: CONFLICT }), ['fault-1', 'mine', 'fault-2']);
  t.throws(() => world.add({ id: 'mine', do: CONFLICT }), /a fault with the id "mine" already exists/);
  const { revision } = world.faults;
  world.fire();
  t.match(world.faults.patch('fault-1', { when: { times: 1 } }, OPERATIONS), {
    when: { times: 1 },
    fired: 1,
    remaining: 0,
  });
  t.equal(world.fire(), 'mine', 'what was counted before counts');
  t.throws(
    () => world.faults.patch('fault-1', { at: 'body', match: { op: 'getRepository' } }, OPERATIONS),
    /is not possible/,
  );
  t.throws(() => world.faults.patch('fault-1', { id: 'other' }, OPERATIONS), /cannot be changed/);
  t.match(world.faults.patch('mine', { sequence: ['pass', OUTAGE] }, OPERATIONS), { do: undefined, sequence: Array });
  t.equal(world.faults.patch('none', {}, OPERATIONS), undefined);
  t.not(world.faults.revision, revision);
  const before = world.faults.list();
  const bad: Fault[] = [
    { id: 'a', do: CONFLICT },
    { id: 'a', do: CONFLICT },
  ];
  t.throws(() => world.faults.replaceAll(bad, OPERATIONS), /"a" already/);
  t.throws(() => world.faults.replaceAll([{ do: CONFLICT }, {}], OPERATIONS), /^faults\.1: |faults\.1: /);
  t.same(world.faults.list(), before, 'all or nothing');
  const placed = world.faults.replaceAll([{ do: OUTAGE }, { id: 'fault-3', do: CONFLICT }], OPERATIONS);
  t.same(
    placed.map(({ id }) => id),
    ['fault-4', 'fault-3'],
  );
  t.same(
    world.faults.list().map(({ id, matched }) => [id, matched]),
    [
      ['fault-4', 0],
      ['fault-3', 0],
    ],
  );
  t.same([world.faults.remove('fault-3'), world.faults.remove('fault-3')], [true, false]);
});

t.test('the number of faults is limited', async (t) => {
  const world = new World();
  const many = Array.from({ length: FAULT_LIMITS.registered }, () => ({ do: CONFLICT }));
  world.faults.replaceAll(many, OPERATIONS);
  t.throws(() => world.add({ do: CONFLICT }), /Fault limit \(1000\) reached/);
  t.throws(() => world.faults.replaceAll([...many, ...many], OPERATIONS), /Fault limit \(1000\) reached/);
  const other = new World();
  for (let n = 1; n <= FAULT_LIMITS.inBand + 5; n++) other.fire({}, [`latency;ms=${n}`]);
  const texts = other.faults.list().map(({ text }) => text);
  t.equal(texts.length, FAULT_LIMITS.inBand);
  t.equal(texts[0], 'latency;ms=6', 'the one asked for longest ago goes first');
  for (let n = 0; n <= FAULT_LIMITS.counters; n++) other.fire({ repositoryName: `r${n}` }, ['conflict*1']);
  t.equal(other.faults.snapshot().inBandCounts.size, FAULT_LIMITS.counters);
  other.fire({ repositoryName: 'r1' }, ['conflict*1']);
  other.fire({ repositoryName: 'new' }, ['conflict*1']);
  t.equal(other.fire({ repositoryName: 'r1' }, ['conflict*1']), '', 'the one used longest ago goes first');
  t.equal(other.fire({ repositoryName: 'r2' }, ['conflict*1']), 'conflict');
});

t.test('later changes do not affect a snapshot', async (t) => {
  const world = new World();
  world.add({ when: { times: 2, by: ['repo'] }, do: CONFLICT });
  const ask = () => [
    world.fire(),
    world.fire({ repositoryName: 'other' }),
    world.fire({ scenario: 's' }, ['lost*1'], 'after'),
  ];
  world.fire();
  world.faults.enterScenario('c', 's1');
  const snapshot = world.faults.snapshot();
  const kept = structuredClone(snapshot.registered.map(({ tally }) => tally));
  const shown = world.faults.list();
  const first = [...ask(), ...ask(), ...world.add({ do: OUTAGE })];
  t.same(
    snapshot.registered.map(({ tally }) => tally),
    kept,
  );
  world.faults.restore(snapshot);
  t.same(world.faults.list(), shown);
  t.same([...ask(), ...ask(), ...world.add({ do: OUTAGE })], first, 'the same again');
  world.faults.restore(snapshot);
  t.same(world.faults.list(), shown, 'as often as one likes');
});
