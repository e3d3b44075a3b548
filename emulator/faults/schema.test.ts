import t from 'tap';
import { Problem } from '../http/problem.js';
import type { Action } from './fault.js';
import { KINDS, kindNameOf } from './kinds/index.js';
import { readFault, readWritten } from './schema.js';

const ONE = { do: { latency: { ms: 1 } } };

t.test('every member is accepted', async (t) => {
  const whole = {
    id: 'a.b:c-1',
    note: 'why',
    priority: -5,
    enabled: false,
    match: {
      op: ['git*', 'commitPack'],
      org: 'demo',
      repo: 'team/*',
      token: {
        sub: 'ci-*',
        kid: 'k',
        alg: 'ES256',
        scopes: { has: ['git:read'], lacks: ['repo:write'] },
        claims: { team: 'core', n: { equals: 1 } },
      },
      http: {
        method: 'POST',
        header: { 'user-agent': 'git/*' },
        query: { limit: { present: false } },
        body: { '/a/0': { contains: 'x' }, '$.a[*]': { regex: '^x' } },
      },
      git: {
        service: 'upload-pack',
        phase: 'rpc',
        protocol: 2,
        command: 'fetch',
        ref: 'refs/heads/*',
        path: 'docs/*',
        message: 'Fix*',
      },
      scenario: 's1',
    },
    when: {
      skip: 0,
      times: 1,
      every: 2,
      chance: 0.5,
      by: ['token', 'repo'],
      from: 'PT1S',
      until: '2030-01-01T00:00:00Z',
    },
    at: 'before',
    sequence: ['pass', { error: { code: 'conflict', detail: 'no', retryAfter: 'garbage', t: 0 } }],
    expect: { fired: { min: 1, max: 2 } },
    ttl: 'PT10M',
  };
  t.strictSame(readFault(whole, 'x'), whole);
});

t.test('every action is accepted', async (t) => {
  const actions: readonly Action[] = [
    { error: { code: 'conflict' } },
    { code: { status: 418, code: 'teapot' } },
    { raw: { status: 200, headers: { 'x-a': 'b' }, bodyBase64: 'aGk=', cut: { how: 'stall', length: 5 } } },
    { latency: { ms: 1 } },
    { throttle: { bps: 1 } },
    { slice: { size: 1, pause: 0 } },
    { hold: 'x' },
    { cut: { at: { objects: 1 }, how: 'end' } },
    { corrupt: { flip: 1 } },
    { drop_object: { bytes: 1 } },
    { sideband: { band: 3, text: 'x' } },
    { flood: { lines: 1, text: 'x' } },
    { ng: { unpack: 'no', refs: { 'refs/heads/main': 'no' } } },
    { lost: { status: 502 } },
    { refuse: { ms: 1 } },
    { tls: { how: 'expired' } },
  ];
  for (const action of actions) t.strictSame(readFault({ do: action }, 'x').do, action, kindNameOf(action));
  t.same(actions.map(kindNameOf).sort(), Object.keys(KINDS).sort(), 'all of them');
});

t.test('an invalid fault is refused with the name of the member', async (t) => {
  const rows: readonly (readonly [value: unknown, sentence: RegExp])[] = [
    [undefined, /^x is required/],
    [5, /^x: .*object/],
    [{ ...ONE, wehn: {} }, /^x: Unknown member "wehn"; the members are id, note, priority, enabled, match, when, /],
    [{ ...ONE, id: 'a b' }, /^id: Must be a name/],
    [{ ...ONE, priority: 1.5 }, /^priority: /],
    [{ ...ONE, enabled: 'no' }, /^enabled: .*boolean/],
    [{ ...ONE, at: 'here' }, /^at: .*"before"/],
    [
      { ...ONE, match: { ops: 'x' } },
      /^match: Unknown member "ops"; the members are op, org, repo, token, http, git, scenario/,
    ],
    [
      { ...ONE, match: { git: { rf: 'x' } } },
      /^match\.git: .*the members are service, phase, protocol, command, ref, path, message, content$/,
    ],
    [{ ...ONE, expect: { fierd: 1 } }, /^expect: .*the members are fired$/],
    [{ ...ONE, match: { op: 5 } }, /^match\.op: Must be the id/],
    [{ ...ONE, match: { token: { subject: 'x' } } }, /^match\.token: .*"subject"/],
    [
      { ...ONE, match: { http: { header: { a: 5 } } } },
      /^match\.http\.header\.a: Must be a string, or an object with equals, contains, glob, regex or present/,
    ],
    [
      { ...ONE, match: { git: { protocol: 3 } } },
      /^match\.git\.protocol: Must be a version of the Git protocol: 0, 1 or 2/,
    ],
    [{ ...ONE, when: { times: 0 } }, /^when\.times: /],
    [{ ...ONE, when: { chance: 0 } }, /^when\.chance: /],
    [{ ...ONE, when: { chance: 1.5 } }, /^when\.chance: /],
    [{ ...ONE, when: { every: 0 } }, /^when\.every: /],
    [{ ...ONE, when: { by: [] } }, /^when\.by: /],
    [{ ...ONE, when: { by: ['day'] } }, /^when\.by\.0: .*connection/],
    [{ ...ONE, when: { from: 'soon' } }, /^when\.from: Must be an ISO 8601 time/],
    [{ ...ONE, when: { sometimes: 1 } }, /^when: .*"sometimes"/],
    [{ ...ONE, ttl: 'soon' }, /^ttl: Must be an ISO 8601 duration/],
    [{ ...ONE, expect: { fired: {} } }, /^expect\.fired: /],
    [{ do: {} }, /^do: Must have one of error, /],
    [{ do: [] }, /^do: /],
    [{ do: { latency: { ms: 1 }, hold: 'x' } }, /^do: Must have one of/],
    [{ do: { explode: true } }, /^do: .*"explode"; the members are error, code, raw, .*lost, refuse, tls$/],
    [
      { do: [{ hold: 'a' }, { error: { cod: 1 } }] },
      /^do\.1\.error: .*"cod"; the members are code, detail, retryAfter, t$/,
    ],
    [{ do: { latency: { ms: 0 } } }, /^do\.latency\.ms: /],
    [{ do: { latency: { ms: 1, dist: 'normal' } } }, /^do\.latency: dist requires jitter/],
    [{ do: [{ latency: { ms: 0 } }] }, /^do\.0\.latency\.ms: /],
    [{ do: { error: { code: 'nonsense' } } }, /^do\.error\.code: /],
    [{ do: { error: { code: 'conflict', detail: 'a\nb' } } }, /^do\.error\.detail: Must be one line/],
    [{ do: { error: { code: 'conflict', retryAfter: 'later' } } }, /^do\.error\.retryAfter: Must be seconds/],
    [{ do: { raw: { status: 99 } } }, /^do\.raw\.status: /],
    [{ do: { raw: { status: 200, headers: { 'content-length': '5' } } } }, /"content-length" is not a header/],
    [{ do: { raw: { status: 200, cut: { how: 'end' } } } }, /^do\.raw\.cut\.how: /],
    [{ do: { raw: { status: 200, cut: { length: 5 } } } }, /^do\.raw\.cut\.how: /],
    [{ do: { raw: { status: 200, headers: { 'a b': '5' } } } }, /"a b" is not a header/],
    [{ do: { raw: { status: 200, headers: { a: 'x\ny' } } } }, /"a" is not a header/],
    [{ do: { cut: { at: { bytes: 1, fraction: 1 } } } }, /^do\.cut\.at: Must have one of bytes/],
    [
      { do: { corrupt: { flip: 1, dropObject: 1 } } },
      /^do\.corrupt: Unknown member "dropObject"; the members are flip/,
    ],
    [{ do: { lost: 'end' } }, /^do\.lost: Must be fin, rst/],
    [{ sequence: [] }, /^sequence: /],
    [{ sequence: ['skip'] }, /^sequence\.0: /],
    [{ sequence: ['pass', { latency: { ms: 0 } }] }, /^sequence\.1\.latency\.ms: /],
  ];
  for (const [value, sentence] of rows) {
    try {
      readFault(value, 'x');
      t.fail(`${JSON.stringify(value)} was read`);
    } catch (error) {
      t.match((error as Problem).detail, sentence, JSON.stringify(value));
      t.ok(error instanceof Problem && error.code === 'bad_request', JSON.stringify(value));
    }
  }
});

t.test('a fault that a request carries in JSON is named by its id, otherwise by its action', async (t) => {
  t.equal(readWritten({ do: { error: { code: 'conflict' } } }, 'x').name, 'conflict');
  t.equal(readWritten({ sequence: ['pass', { latency: { ms: 1 } }] }, 'x').name, 'latency');
  t.equal(readWritten({ id: 'mine', ...ONE }, 'x').name, 'mine');
});
