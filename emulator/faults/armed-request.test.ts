import t from 'tap';
import type { Fault } from './fault.js';
import { parseFault } from './grammar.js';
import type { RequestFacts } from './request-facts.js';
import type { Position } from './stage.js';
import { OPERATIONS, operationOf } from './test/facts.js';
import { CONFLICT, OUTAGE, World } from './test/world.js';

t.test(
  'several delays and one response-ending action apply at a stage; the highest priority decides which',
  async (t) => {
    const world = new World();
    world.add(
      { do: CONFLICT },
      { do: OUTAGE },
      { do: { latency: { ms: 1 } } },
      { priority: 1, do: { latency: { ms: 2 } } },
    );
    t.equal(world.fire(), 'fault-4 fault-3 fault-1');
    t.match(world.faults.get('fault-2'), { matched: 1, fired: 0, skippedBecause: { priority: 1 }, remaining: null });
    world.add({ priority: 5, when: { times: 1 }, do: OUTAGE });
    t.equal(world.fire(), 'fault-4 fault-3 fault-5');
    t.equal(world.fire(), 'fault-4 fault-3 fault-1', 'it has met its one');
  },
);

t.test('among faults of equal priority, the one added first applies', async (t) => {
  const world = new World();
  t.equal(world.fire({}, ['conflict', 'bad_gateway']), 'conflict');
  t.equal(world.fire({}, ['bad_gateway', 'conflict']), 'conflict');
  world.add({ do: [CONFLICT, OUTAGE], priority: 1 });
  t.same(world.arm().take('before'), [{ id: 'fault-1', action: CONFLICT }], 'of one fault, the first action');
});

t.test('a fault that loses to another is not counted', async (t) => {
  const world = new World();
  world.add({ when: { times: 1 }, do: CONFLICT }, { when: { times: 1 }, do: OUTAGE });
  t.same([world.fire(), world.fire(), world.fire()], ['fault-1', 'fault-2', '']);
});

t.test('faults of different stages all apply, and each is decided once', async (t) => {
  const world = new World();
  world.add({ do: { latency: { ms: 1 } }, when: { times: 1 } }, { at: 'after', do: CONFLICT, when: { times: 1 } });
  const one = world.arm();
  t.same(
    one.take('before').map(({ id }) => id),
    ['fault-1'],
  );
  t.same(one.take('before'), [], 'the stage is over');
  const two = world.arm();
  t.same(two.take('before'), [], 'its one was taken by the first request');
  t.same(
    two.take('after').map(({ id }) => id),
    ['fault-2'],
  );
  t.same(one.take('after'), [], 'the other fault belongs to who came first');
  t.same(one.fired, ['fault-1']);
});

t.test('a fault with several actions applies each at its stage and counts once', async (t) => {
  const world = new World();
  world.add({ when: { times: 1 }, do: [{ latency: { ms: 1 } }, { cut: {} }, { lost: 'fin' }] });
  const request = world.arm();
  const at = (position: Position) => request.take(position).map(({ action }) => Object.keys(action)[0]);
  t.same([at('before'), at('after'), at('response.body')], [['latency'], ['lost'], ['cut']]);
  t.same(request.fired, ['fault-1']);
  t.match(world.faults.get('fault-1'), { matched: 1, fired: 1, remaining: 0, requestIds: ['req-1'] });
  t.equal(world.fire(), '');
});

t.test('where an action happens without a stage depends on the operation', async (t) => {
  const rows: readonly (readonly [text: string, operation: string, position: Position | undefined])[] = [
    ['internal_error', 'getRepository', 'before'],
    ['rate_limited', 'getRepository', 'quota'],
    ['cut', 'getRepository', 'response.body'],
    ['cut', 'gitUploadPack', 'git.pack'],
    ['cut', 'gitInfoRefs', undefined],
    ['cut', 'lfsBatch', 'response.body'],
    ['cut;objects=1', 'lfsBatch', undefined],
    ['drop_object', 'gitUploadPack', 'git.pack'],
    ['drop_object', 'getRepository', undefined],
    ['sideband', 'gitReceivePack', 'git.report'],
    ['ng;ref=refs/heads/a', 'gitReceivePack', 'git.report'],
    ['ng;ref=refs/heads/a', 'gitUploadPack', undefined],
    ['lost', 'gitReceivePack', 'after'],
    ['rate_limited@git.advertise', 'gitInfoRefs', 'git.advertise'],
    ['internal_error@git.receive', 'gitReceivePack', 'git.receive'],
    ['internal_error@git.report', 'gitReceivePack', 'after'],
    ['internal_error@git.pack', 'gitUploadPack', 'git.pack'],
    ['internal_error@git.pack', 'gitReceivePack', undefined],
  ];
  const positions: readonly Position[] = ['headers', 'auth', 'quota', 'before', 'body', 'after', 'response.head'];
  const all: readonly Position[] = [
    ...positions,
    'git.advertise',
    'git.pack',
    'git.receive',
    'git.report',
    'response.body',
  ];
  for (const [text, operation, position] of rows) {
    const request = new World().arm({ operation: operationOf(operation) }, [text]);
    const met = all.filter((one) => request.take(one).length > 0);
    t.same(met, position === undefined ? [] : [position], `${text} on ${operation}`);
  }
});

t.test('conditions on a request', async (t) => {
  const rows: readonly (readonly [match: Fault['match'], given: Partial<RequestFacts>, reason: RegExp | undefined])[] =
    [
      [{ org: 'demo' }, {}, undefined],
      [{ org: 'other' }, {}, /org is demo, not other/],
      [{ repo: 'team/*' }, {}, undefined],
      [{ repo: 'other/*' }, {}, /repo is team\/app, not other\/\*/],
      [{ repo: '*' }, { repositoryName: undefined }, /repo is unknown/],
      [{ scenario: 's?' }, { scenario: 's1' }, undefined],
      [{ scenario: 's1' }, {}, /scenario is unknown, not s1/],
      [{ token: { sub: 'a*' } }, {}, undefined],
      [{ token: { sub: 'b*' } }, {}, /token\.sub is ada, not b\*/],
      [{ token: { kid: 'k1', alg: 'ES256' } }, {}, undefined],
      [{ token: { alg: 'RS256' } }, {}, /token\.alg is ES256/],
      [{ token: { scopes: { has: ['git:read'], lacks: ['git:write'] } } }, {}, undefined],
      [{ token: { scopes: { has: ['git:write'] } } }, {}, /lacks the scope git:write/],
      [{ token: { scopes: { lacks: ['git:read'] } } }, {}, /has the scope git:read/],
      [{ token: { claims: { team: { contains: 'core' } } } }, {}, undefined],
      [{ token: { claims: { team: { equals: ['core'] }, none: { present: false } } } }, {}, undefined],
      [{ token: { claims: { toString: { present: true } } } }, {}, /token\.claims toString/],
      [{ http: { method: 'GET', header: { 'User-Agent': 'git/*' }, query: { limit: '5' } } }, {}, undefined],
      [{ http: { header: { 'x-other': '*' } } }, {}, /http\.header x-other does not match/],
      [{ http: { query: { limit: '6' } } }, {}, /http\.query limit/],
      [
        { http: { body: { '/a~1b/0': 'x', '': { present: true } } } },
        { operation: operationOf('createBranch'), bodyValues: [{ 'a/b': ['x'] }] },
        undefined,
      ],
      [{ http: { body: { '/a': 'x' } } }, { operation: operationOf('createBranch') }, /http\.body \/a/],
      [
        { git: { service: 'receive-pack', phase: 'rpc', protocol: 0 } },
        { operation: operationOf('gitReceivePack'), gitHead: { service: 'receive-pack', phase: 'rpc', protocol: 0 } },
        undefined,
      ],
      [
        { git: { protocol: 2 } },
        { operation: operationOf('gitReceivePack'), gitHead: { service: 'receive-pack', phase: 'rpc', protocol: 0 } },
        /git\.protocol is 0, not 2/,
      ],
    ];
  for (const [match, given, reason] of rows) {
    const world = new World();
    world.add({ ...(match && { match }), do: CONFLICT });
    const request = world.arm(given);
    t.equal(request.take('before').length, reason ? 0 : 1, JSON.stringify(match));
    if (reason) t.match(request.reasons, [reason]);
    else t.same(request.reasons, []);
  }
  const world = new World();
  world.add({ match: { repo: 'x', token: { sub: 'x' } }, do: CONFLICT }, { match: { op: 'commitPack' }, do: CONFLICT });
  const request = world.arm();
  t.same(request.take('before'), [], 'one for another operation is not met');
  t.same(request.reasons, [], 'one that was far off is not told');
});

t.test('conditions on refs and commands are checked as soon as these are known', async (t) => {
  const world = new World();
  world.add({
    match: { git: { ref: 'refs/heads/ma*' } },
    at: 'git.report',
    do: { lost: 'fin' },
    when: { times: 1 },
  });
  const ask = (refs: readonly string[]) => {
    const request = world.arm({ operation: operationOf('gitReceivePack') });
    const before = request.take('git.report').length;
    request.learn({ refs });
    return [before, request.take('git.report').length, request.reasons.length];
  };
  t.same(ask(['refs/heads/topic']), [0, 0, 1]);
  t.same(ask(['refs/heads/topic', 'refs/heads/main']), [0, 1, 0]);
});

t.test('conditions on commits wait until the commits are known', async (t) => {
  const world = new World();
  world.add({ match: { git: { path: 'docs/*', message: 'Fix*' } }, do: { lost: 'fin' }, at: 'git.report' });
  const ask = (paths: readonly string[], messages: readonly string[]) => {
    const request = world.arm({ operation: operationOf('gitReceivePack') });
    request.learn({ refs: ['refs/heads/main'] });
    const before = request.take('git.report').length;
    request.learn({ refs: ['refs/heads/main'], paths, messages });
    return [request.needsCommits, before, request.take('git.report').length, ...request.reasons];
  };
  t.same(ask(['a', 'docs/a/b'], ['Do', 'Fix it\n\nnow']), [true, 0, 1]);
  const why = 'fault-1 did not fire: git.message is Do it, not Fix*';
  t.same(ask(['docs/a'], ['Do it']), [true, 0, 0, why]);
  t.same(ask([], ['Fix']), [true, 0, 0, 'fault-1 did not fire: git.path is unknown, not docs/*']);
});

t.test('a state that permits the operation does not consume the fault', async (t) => {
  const world = new World();
  const ask = (isRefused: boolean) =>
    world.fire({ stateRefusal: (code) => (isRefused ? code : undefined) }, ['sync_in_progress*1']);
  t.same([ask(false), ask(false), ask(true), ask(true)], ['', '', 'sync_in_progress', '']);
});

t.test('a request is armed while a fault may apply or has applied', async (t) => {
  const world = new World();
  world.add({ match: { repo: 'other' }, do: CONFLICT }, { match: { repo: 'x*' }, do: OUTAGE });
  const far = world.arm();
  const before = far.isArmed;
  t.same([before, far.take('before'), far.isArmed], [true, [], false]);
  t.same(
    [far.fired, far.reasons],
    [[], ['other', 'x*'].map((repo, n) => `fault-${n + 1} did not fire: repo is team/app, not ${repo}`)],
  );
  t.same(world.arm({ repositoryName: 'team/two' }, []).reasons, [], 'nothing was decided yet');
  const two = world.arm({ repositoryName: 'team/two' });
  two.take('before');
  t.match(two.reasons, [/repo is team\/two, not other/, /repo is team\/two, not x/], 'each has its own reason');

  const context = { where: 'x', operations: OPERATIONS, inBand: 'header' } as const;
  far.add([world.faults.asked(parseFault('latency@response.head;ms=1', 'x'), context)]);
  t.ok(far.isArmed, 'it asks for one more');
  t.same(far.take('before'), [], 'what was decided stays so');
  t.equal(far.reasons.length, 2);
  t.equal(far.take('response.head').length, 1);
  t.ok(far.isArmed, 'one has met it');
  t.same(far.fired, ['latency']);
});

t.test('a request that carries a fault twice triggers it once', async (t) => {
  const world = new World();
  t.equal(world.fire({}, ['latency*2;ms=1', 'latency*2;ms=1']), 'latency');
  t.match(world.faults.get('latency'), { matched: 1, fired: 1, remaining: 1 });
});

t.test('the list of fired faults grows while the response is sent', async (t) => {
  const world = new World();
  world.add({ at: 'git.pack', do: { latency: { ms: 1 } } });
  const request = world.arm({ operation: operationOf('gitUploadPack') });
  const { fired } = request;
  t.same(fired, []);
  request.take('git.pack');
  t.same(fired, ['fault-1']);
});
