import { request as httpRequest } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { operations } from '../../api/index.js';
import type { Action, Fault, Match } from '../../faults/fault.js';
import { FAULT_LIMITS } from '../../faults/fault-limits.js';
import { parseFault } from '../../faults/grammar.js';
import { kindNameOf, stagesFor } from '../../faults/kinds/index.js';
import { STAGES, type Stage } from '../../faults/stage.js';
import { pushBody } from '../git/raw-push.js';
import { EVERY_SCOPE } from '../operations/routes/fixture.js';
import { LFS_TYPE } from '../operations/worded-response.js';
import { IS_COMPLETE, sample } from '../sample.js';
import { type CallOptions, packBody, type Service, startService } from '../service.js';

// Tests every kind of fault (injected failure) at every stage, with each condition and a sample of pairs of conditions.
// A stage is the point of a request at which a fault fires. The emulator must refuse a fault with a reason, or the
// fault must fire for one of the requests in this file.

/** One fault of each kind. For error codes, one for each format in which operations report errors. */
const ACTIONS: readonly Action[] = [
  'internal_error',
  'rate_limited',
  'sync_in_progress',
  'repository_thawing',
  'hosting_not_enabled',
  'code;code=sold_out;status=418',
  'raw;status=200',
  'latency;ms=1;jitter=1',
  'throttle;bps=1000000000',
  'slice;size=1000',
  'hold;latch=gate',
  'cut',
  'cut;objects=1',
  'corrupt',
  'drop_object',
  'sideband;band=2',
  'sideband;band=3',
  'flood;lines=1',
  'ng;ref=refs/heads/main',
  'lost',
].map((text) => parseFault(text, 'x').fault.do as Action);

const OPERATIONS = [
  'getRepository',
  'createBranch',
  'commitPack',
  'listRepositories',
  'createRepository',
  'gitInfoRefs',
  'gitUploadPack',
  'gitReceivePack',
  'lfsBatch',
];

/**
 * Conditions of faults, each with the values to test. Some request of this test meets each condition if the operation
 * permits.
 */
const CONDITIONS: readonly (readonly [member: string, ...matches: Match[]])[] = [
  ['op', ...OPERATIONS.map((op) => ({ op }))],
  ['org', { org: 'demo' }],
  ['repo', { repo: 'team/*' }],
  ['scenario', { scenario: 'probe' }],
  ['token.sub', { token: { sub: '*' } }],
  ['token.kid', { token: { kid: 'es256' } }],
  ['token.alg', { token: { alg: 'ES256' } }],
  ['token.scopes.has', { token: { scopes: { has: ['repo:write'] } } }],
  ['token.scopes.lacks', { token: { scopes: { lacks: ['git:read'] } } }],
  ['token.claims', { token: { claims: { iss: 'demo' } } }],
  ['http.method', ...['GET', 'HEAD', 'POST', 'get'].map((method) => ({ http: { method } }))],
  ['http.header', { http: { header: { 'X-Probe': '1' } } }],
  ['http.query', { http: { query: { probe: '1' } } }],
  ['http.body', { http: { body: { '$..probe': '1' } } }],
  ['git.service', { git: { service: 'upload-pack' } }, { git: { service: 'receive-pack' } }],
  ['git.phase', { git: { phase: 'advertise' } }, { git: { phase: 'rpc' } }],
  ['git.protocol', ...([0, 1, 2] as const).map((protocol) => ({ git: { protocol } }))],
  ['git.command', ...(['ls-refs', 'fetch', 'object-info'] as const).map((command) => ({ git: { command } }))],
  ['git.ref', { git: { ref: 'refs/heads/*' } }],
  ['git.path', { op: 'commitPack', git: { path: 'a' } }],
  ['git.message', { op: 'commitPack', git: { message: '*' } }],
];

const SINGLES: readonly Match[] = CONDITIONS.flatMap(([, ...matches]) => matches);
const PAIRS: readonly Match[] = CONDITIONS.flatMap(([, ...first], at) =>
  CONDITIONS.slice(at + 1).flatMap(([, ...second]) => first.flatMap((one) => second.map((two) => joined(one, two)))),
);

/** Merges two objects at every depth. It combines two conditions into one fault. */
function joined<Value>(one: Value, two: Value): Value {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return two ?? one;
  const names = new Set([...Object.keys(one), ...Object.keys(two ?? {})]) as Set<keyof Value>;
  return Object.fromEntries([...names].map((name) => [name, joined(one[name], (two ?? one)[name])])) as Value;
}

/** Number of faults with two conditions that the test chooses at random, out of about 73,000. */
const SAMPLE = 2_000;

t.setTimeout(600_000);

type Sending = (scopes: readonly string[]) => Promise<unknown>;

const packet = (line: string) => `${(line.length + 5).toString(16).padStart(4, '0')}${line}\n`;
/** Scopes of the tokens in this test. A token has all scopes, or all except the one that most requests need. */
const SCOPES = [EVERY_SCOPE, EVERY_SCOPE.filter((scope) => scope !== 'git:read')];

/**
 * Returns requests of every kind of operation, phase, protocol and command. Together they have all properties that the
 * conditions test.
 */
function requestsTo(service: Service, tip: string): readonly Sending[] {
  let count = 0;
  const tokens = new Map<string, Promise<string>>();
  const tokenFor = (repo: string, scopes: readonly string[]) => {
    const key = JSON.stringify([repo, scopes]);
    const token = tokens.get(key) ?? service.token({ repo, scopes: [...scopes], kid: 'es256' });
    tokens.set(key, token);
    return token;
  };
  const send = (method: string, path: string, options: CallOptions = {}): Sending => {
    const headers = { 'x-probe': '1', 'x-emulator-scenario': 'probe', ...options.headers };
    const target = `${path}${path.includes('?') ? '&' : '?'}probe=1`;
    return async (scopes) => {
      const token = await tokenFor(options.repo ?? 'team/app', scopes);
      return service.call(method, target, { token, ...options, headers }).catch(() => undefined);
    };
  };
  const git = (protocol: number, path: string, command?: string, body?: string | Buffer): Sending => {
    const version = { 'git-protocol': `version=${protocol}` };
    if (command === undefined) return send('GET', `/team/app.git/${path}`, { headers: version });
    const headers = { ...version, 'content-type': `application/x-git-${command}-request` };
    return send('POST', `/team/app.git/${path}`, { headers, body: body! });
  };
  const v2 = (command: string, ...lines: string[]) =>
    git(2, 'git-upload-pack', 'upload-pack', `${packet(`command=${command}`)}0001${lines.map(packet).join('')}0000`);
  const main = { ref: 'refs/heads/main', old: tip, new: tip };
  const batch = { operation: 'upload', objects: [], probe: '1' };
  return [
    send('GET', '/api/repos/team%2Fapp'),
    send('HEAD', '/api/repos/team%2Fapp'),
    send('GET', '/api/repos'),
    send('HEAD', '/api/repos'),
    (scopes) => {
      const json = { target_branch: `b${++count}`, base_ref: 'main', probe: '1' };
      return send('POST', '/api/repos/team%2Fapp/branches/create', { json })(scopes);
    },
    send('POST', '/api/repos/team%2Fapp/commit-pack', {
      body: packBody({ a: 'a' }, { target_branch: 'other', probe: '1' }),
    }),
    (scopes) => send('POST', '/api/repos', { repo: `team/r${++count}`, json: { probe: '1' } })(scopes),
    send('GET', '/api/repos/team%2Fapp/deployments'),
    send('HEAD', '/api/repos/team%2Fapp/deployments'),
    send('POST', '/api/repos/team%2Fapp/deployments', { json: { probe: '1' } }),
    ...[0, 1, 2].flatMap((protocol) => [
      git(protocol, 'info/refs?service=git-upload-pack'),
      git(protocol, 'info/refs?service=git-receive-pack'),
      git(protocol, 'git-receive-pack', 'receive-pack', pushBody([main])),
    ]),
    ...[0, 1].map((protocol) =>
      git(protocol, 'git-upload-pack', 'upload-pack', `${packet(`want ${tip} side-band-64k`)}0000${packet('done')}`),
    ),
    v2('ls-refs'),
    v2('fetch', `want ${tip}`, 'done'),
    v2('object-info', 'size', `oid ${tip}`),
    send('POST', '/team/app.git/info/lfs/objects/batch', { json: batch, headers: { 'content-type': LFS_TYPE } }),
  ];
}

async function stage(t: Test) {
  const service = await startService({});
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.call('POST', '/api/repos', { json: { deployment: {} } });
  await service.commit('team/app', { a: 'a' });
  await service.commit('team/app', { a: 'b' }, { target_branch: 'other', base_branch: 'main' });
  const { json } = await service.call('GET', '/api/v1/repos/commit?sha=main');
  const requests = requestsTo(service, json.commit.sha);
  /**
   * Sends a request. If `isHeld` is true, a fault will hold the request. The function then tries to release it in each
   * turn of the event loop, because the fault may not hold it yet.
   */
  const send = async (request: Sending, scopes: readonly string[], isHeld = false) => {
    if (!isHeld) return request(scopes);
    let isOver = false;
    const pending = request(scopes).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      service.world.releaseLatch('gate');
      await turn();
    }
    return pending;
  };
  return { service, requests, send };
}

/** Returns the faults that the emulator accepts. Asserts that it refuses all others with a reason. */
function takenOf(t: Test, { world }: Service, faults: readonly Fault[]): Fault[] {
  return faults.filter((fault) => {
    try {
      world.state.faults.check(fault, operations);
      return true;
    } catch (error) {
      const { message } = error as Error;
      if (!/^The fault: .{20,}\.$/.test(message)) t.fail(`${JSON.stringify(fault)}: ${message}`);
      return false;
    }
  });
}

const DEFAULT = undefined;
const WAYS: readonly (readonly [action: Action, at: Stage | undefined])[] = ACTIONS.flatMap((action) =>
  [DEFAULT, ...(Object.keys(STAGES) as Stage[])].map((at) => [action, at] as const),
);

function faultOf(action: Action, at: Stage | undefined, match: Match | undefined, when: Fault['when']): Fault {
  return { ...(match && { match }), ...(at && { at }), do: action, ...(when && { when }) };
}

t.test('every accepted fault with one condition fires', async (t) => {
  const { service, requests, send } = await stage(t);
  const { faults } = service.world.state;
  let count = 0;
  const ways = sample(t, WAYS, 120);
  for (const [action, at] of ways) {
    if (at === 'accept') continue;
    const wanted = [undefined, ...SINGLES].map((match) => faultOf(action, at, match, { times: 1 }));
    let waiting = faults.replaceAll(takenOf(t, service, wanted), operations);
    const taken = waiting.length;
    if (at !== undefined && !stagesFor(action).includes(at)) t.equal(taken, 0, `${kindNameOf(action)} at ${at}`);
    count += taken;
    for (const scopes of SCOPES) {
      for (let useful = requests; useful.length > 0 && waiting.length > 0; ) {
        const sent = useful;
        useful = [];
        for (const request of sent) {
          await send(request, scopes, 'hold' in action);
          const left = waiting.filter(({ id }) => faults.get(id)!.fired === 0);
          if (left.length < waiting.length) useful = [...useful, request];
          waiting = left;
          if (waiting.length === 0) break;
        }
      }
    }
    t.same(waiting, [], `${JSON.stringify(action)} at ${at}: ${taken} faults`);
  }
  t.ok(count > (IS_COMPLETE ? 2_500 : ways.length), `${count} faults`);
});

t.test('every accepted fault with two conditions can fire', async (t) => {
  const { service, requests, send } = await stage(t);
  const { faults } = service.world.state;
  let count = 0;
  // Let each fault skip its first 1,000,000,000 matches. It then only counts matches and never hides a request from
  // other faults.
  const when = { skip: 1_000_000_000 };
  const wanted = WAYS.filter(([action, at]) => at !== undefined && stagesFor(action).includes(at))
    .filter(([action]) => 'error' in action || ACTIONS.find((one) => kindNameOf(one) === kindNameOf(action)) === action)
    .flatMap(([action, at]) => PAIRS.map((match) => faultOf(action, at, match, when)));
  const sent = sample(t, wanted, SAMPLE);
  const taken = takenOf(t, service, sent);
  for (let at = 0; at < taken.length; at += FAULT_LIMITS.registered) {
    const added = faults.replaceAll(taken.slice(at, at + FAULT_LIMITS.registered), operations);
    count += added.length;
    for (const request of requests) for (const scopes of SCOPES) await send(request, scopes);
    t.same(
      added.filter(({ id }) => faults.get(id)!.matched === 0),
      [],
      `${added.length} faults`,
    );
  }
  t.ok(count > sent.length / 10, `${count} faults`);
});

t.test('faults at the stage accept have no conditions, and fire', async (t) => {
  const { service } = await stage(t);
  for (const action of ACTIONS.filter((one) => stagesFor(one).includes('accept'))) {
    const asking = SINGLES.map((match) => faultOf(action, 'accept', match, undefined));
    t.same(takenOf(t, service, asking), []);
    const fault = service.emulator.fault({ at: 'accept', do: action });
    const sent = httpRequest(`${service.url}/api/v1/repo`, { agent: false }).on('error', () => {});
    const over = new Promise((resolve) => sent.on('close', resolve));
    sent.on('response', (response) => response.resume()).end();
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    while (!isOver) {
      service.world.releaseLatch('gate');
      await turn();
    }
    t.equal(fault.fired, 1, kindNameOf(action));
    fault.remove();
  }
});

t.test(
  'faults with conditions on refs and commands are accepted at the stages where these are known, and later',
  async (t) => {
    const { service } = await stage(t);
    const main = { git: { ref: 'refs/heads/main' } };
    for (const [spec, match] of [
      ['internal_error@git.receive', main],
      ['internal_error@git.report', main],
      ['internal_error@git.pack', main],
      ['code@git.receive;code=a;status=418', main],
      ['raw@git.report;status=200', { ...main, op: 'gitReceivePack' }],
      ['lost', { ...main, op: 'gitReceivePack' }],
      ['cut@response.body', main],
      ['internal_error@git.advertise', { git: { command: 'ls-refs' } }],
      ['internal_error@response.head', { git: { command: 'object-info' } }],
      ['sync_in_progress', { op: 'gitInfoRefs', git: { service: 'receive-pack' } }],
    ] as const) {
      t.ok(service.emulator.fault({ ...parseFault(spec, 'x').fault, match }), spec);
    }
    for (const [spec, match, reason] of [
      ['internal_error@git.advertise', main, /git\.advertise/],
      [
        'internal_error@git.pack',
        { git: { command: 'ls-refs' } },
        /the stage git\.pack is not possible for gitUploadPack/,
      ],
      ['internal_error@body', { http: { body: { '/a': '*' } } }, /match\.http\.body is not yet known at body/],
      [
        'internal_error',
        { http: { body: { a: '*' } } },
        /"a" is neither a JSON pointer, such as "\/name", nor a JSONPath/,
      ],
      ['internal_error@headers', { op: 'createRepository', repo: 'a' }, /match\.repo is not yet known at headers/],
      ['internal_error', { http: { method: 'get' } }, /no operation matches the conditions/],
      [
        'internal_error',
        { op: 'getRepository', http: { method: 'POST' } },
        /no request can match all of match\.op, match\.http/,
      ],
      [
        'internal_error',
        { op: 'getRepository', token: { scopes: { lacks: ['git:read'] } } },
        /refuses requests without the scope before/,
      ],
      ['internal_error', { http: { header: { 'x y': '*' } } }, /"x y" is not the name of a header/],
      [
        'internal_error',
        { http: { header: { a: { equals: 1 } } } },
        /match\.http\.header: "a": equals must be a string, not 1/,
      ],
      [
        'internal_error',
        { http: { query: { a: { equals: null } } } },
        /match\.http\.query: "a": equals must be a string/,
      ],
      [
        'internal_error',
        { http: { query: { a: { present: false, glob: '*', contains: 'b' } } } },
        /present: false cannot be combined with contains, glob/,
      ],
      [
        'internal_error',
        { token: { claims: { n: { equals: 12, glob: '2*' } } } },
        /match\.token\.claims: "n": no value matches both equals and glob/,
      ],
      [
        'internal_error',
        { http: { body: { '/a': { equals: ['b'], contains: 'c' } } } },
        /"\/a": no value matches both equals and contains/,
      ],
      ['internal_error', { token: { scopes: { has: ['git:raed'] } } }, /unknown scope "git:raed"\. The scopes are/],
      ['sync_in_progress', { op: 'getRepository' }, /getRepository never returns sync_in_progress/],
      ['repository_thawing', { op: 'listRepositories' }, /listRepositories never returns repository_thawing/],
    ] as const) {
      t.throws(() => service.emulator.fault({ ...parseFault(spec, 'x').fault, match }), { message: reason }, spec);
    }
    for (const match of [
      { http: { query: { a: { present: false } }, header: { 'X-A': { equals: 'ab', glob: 'a*', present: true } } } },
      { token: { claims: { n: { equals: 12, glob: '1*' }, list: { equals: ['b'], contains: 'b' } } } },
      { op: 'createRepository', http: { body: { '/a': { equals: null } } } },
    ]) {
      t.ok(service.emulator.fault({ match, do: { error: { code: 'internal_error' } } }), JSON.stringify(match));
    }
    service.emulator.state.change({ variants: { syncBlocks: 'all' } });
    t.ok(service.emulator.fault({ match: { op: 'getRepository' }, do: { error: { code: 'sync_in_progress' } } }));
  },
);
