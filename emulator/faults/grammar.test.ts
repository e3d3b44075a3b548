import t from 'tap';
import { Problem, problemCodes } from '../http/problem.js';
import { parseFault, parseFaults } from './grammar.js';
import { TEXT_NAMES } from './kinds/index.js';
import { readFault } from './schema.js';
import { STAGES } from './stage.js';

/** Faults (injected failures) in the short notation, each with the JSON form that the parser must return. */
const MEANT: readonly (readonly [text: string, fault: object])[] = [
  ['internal_error', { do: { error: { code: 'internal_error' } } }],
  ['code:internal_error', { do: { error: { code: 'internal_error' } } }],
  ['rate_limited;t=1;retry-after=2', { do: { error: { code: 'rate_limited', t: 1, retryAfter: 2 } } }],
  ['rate_limited;retry-after=http-date', { do: { error: { code: 'rate_limited', retryAfter: 'http-date' } } }],
  ['rate_limited;retry-after=omit', { do: { error: { code: 'rate_limited', retryAfter: 'omit' } } }],
  [
    'repository_thawing*2+1@after;retry-after=7',
    { when: { skip: 1, times: 2 }, at: 'after', do: { error: { code: 'repository_thawing', retryAfter: 7 } } },
  ],
  ['code;code=quota;status=429', { do: { code: { code: 'quota', status: 429 } } }],
  ['code;code=x;status=503;retry-after=3', { do: { code: { code: 'x', status: 503, retryAfter: 3 } } }],
  [
    'raw;status=200;body=_-8;type=text/plain',
    { do: { raw: { status: 200, headers: { 'content-type': 'text/plain' }, bodyBase64: '/+8=' } } },
  ],
  ['raw;status=204', { do: { raw: { status: 204 } } }],
  ['latency;ms=5', { do: { latency: { ms: 5 } } }],
  ['latency;ms=100;jitter=50', { do: { latency: { ms: 100, jitter: 50 } } }],
  ['latency;ms=100;jitter=50;dist=lognormal', { do: { latency: { ms: 100, jitter: 50, dist: 'lognormal' } } }],
  ['throttle;bps=5', { do: { throttle: { bps: 5 } } }],
  ['slice;size=1', { do: { slice: { size: 1 } } }],
  ['slice;size=10;pause=5', { do: { slice: { size: 10, pause: 5 } } }],
  ['hold;latch=a.b-c_1', { do: { hold: 'a.b-c_1' } }],
  ['cut', { do: { cut: {} } }],
  ['cut;bytes=0;how=fin', { do: { cut: { at: { bytes: 0 }, how: 'fin' } } }],
  ['cut;fraction=0.5;how=rst', { do: { cut: { at: { fraction: 0.5 }, how: 'rst' } } }],
  ['cut;objects=3;how=stall', { do: { cut: { at: { objects: 3 }, how: 'stall' } } }],
  ['cut;trailer=1;how=end', { do: { cut: { at: { beforeTrailer: true }, how: 'end' } } }],
  ['corrupt', { do: { corrupt: {} } }],
  ['corrupt;bytes=9', { do: { corrupt: { flip: 9 } } }],
  ['drop_object', { do: { drop_object: {} } }],
  ['sideband;band=2;text=a%2Cb%3B c', { do: { sideband: { band: 2, text: 'a,b; c' } } }],
  ['sideband', { do: { sideband: { band: 3, text: 'injected fault' } } }],
  ['flood', { do: { flood: {} } }],
  ['flood;lines=9;text=x', { do: { flood: { lines: 9, text: 'x' } } }],
  ['ng;ref=refs/heads/main;reason=no', { do: { ng: { refs: { 'refs/heads/main': 'no' } } } }],
  ['lost', { do: { lost: 'fin' } }],
  ['lost;how=rst', { do: { lost: 'rst' } }],
  ['refuse;ms=5', { do: { refuse: { ms: 5 } } }],
  ['tls;how=wrong-host', { do: { tls: { how: 'wrong-host' } } }],
  ['lost;status=502', { do: { lost: { status: 502 } } }],
];

t.test('the text form and JSON express the same faults', async (t) => {
  for (const [text, fault] of MEANT) {
    t.strictSame(parseFault(text, 'x').fault, fault, text);
    t.strictSame(readFault(fault, 'x'), fault, `${text} as JSON`);
  }
  const tried = new Set(MEANT.map(([text]) => parseFault(text, 'x').name));
  for (const { code } of problemCodes()) tried.add(code);
  t.strictSame(tried, new Set(TEXT_NAMES.keys()), 'every name');
});

t.test('keys that every fault has name members of its JSON form', async (t) => {
  const { fault, name } = parseFault(
    'lost*2;how=rst;match.op=create*%2Cgrep;match.git.ref=refs/heads/*;match.sub=;match.header.X-A%3D=a%3Bb;when.every=3;id=mine',
    'x',
  );
  t.equal(name, 'mine');
  t.strictSame(fault, {
    when: { times: 2, every: 3 },
    match: {
      op: ['create*', 'grep'],
      git: { ref: 'refs/heads/*' },
      token: { sub: '' },
      http: { header: { 'X-A=': 'a;b' } },
    },
    id: 'mine',
    do: { lost: 'rst' },
  });
  const compared = 'lost;match.header.user-agent*=git;match.body.$.a[%2A]~=^x%24;match.claims.n=1'.replace(
    '.claim.',
    '.claims.',
  );
  t.strictSame(parseFault(compared, 'x').fault.match, {
    http: { header: { 'user-agent': { contains: 'git' } }, body: { '$.a[*]': { regex: '^x$' } } },
    token: { claims: { n: '1' } },
  });
  for (const [text, sentence] of [
    ['lost;match.repo=', /the key match\.repo of the fault lost must be a text of 1 to/],
    ['lost;match.ref=a;match.git.ref=b', /lost has the key match\.git\.ref twice/],
    ['lost;match.header=a', /lost has no key "match\.header"/],
    ['lost;when.times=2', /lost has no key "when\.times"/],
    ['lost;match.protocol=3', /the key match\.protocol of the fault lost must be one of 0, 1, 2/],
    ['lost;when.chance=0', /the key when\.chance of the fault lost must be a number above 0/],
    ['lost;when.by=day', /the key when\.by of the fault lost must be one of rule, .*; separate several by commas/],
    ['lost;enabled=no', /the key enabled of the fault lost must be one of true, false/],
    ['lost;ttl=soon', /the key ttl of the fault lost must be an ISO 8601 duration/],
  ] as const) {
    t.throws(() => parseFault(text, 'Here'), { message: sentence }, text);
  }
});

t.test('every code and every stage can be named', async (t) => {
  for (const { code } of problemCodes()) t.same(parseFault(code, 'x').fault.do, { error: { code } }, code);
  for (const stage of Object.keys(STAGES)) t.equal(parseFault(`latency@${stage};ms=1`, 'x').fault.at, stage);
});

t.test('several faults are separated by commas', async (t) => {
  const faults = parseFaults('latency;ms=1, internal_error*1 ,lost', 'x');
  t.same(
    faults.map(({ text, name }) => [text, name]),
    [
      ['latency;ms=1', 'latency'],
      ['internal_error*1', 'internal_error'],
      ['lost', 'lost'],
    ],
  );
  t.throws(() => parseFaults(Array(33).fill('lost').join(','), 'x'), /at most 32 faults/);
});

t.test('an invalid text is refused with the member and the allowed values', async (t) => {
  const rows: readonly (readonly [text: string, sentence: RegExp])[] = [
    ['', /"" is not name\[\*times\]/],
    ['nonsense', /unknown fault nonsense\. The faults are bad_request, .*lost/],
    ['code:nonsense', /unknown fault nonsense/],
    ['code:latency', /unknown fault latency/],
    ['code:code', /unknown fault code/],
    ['lost:fin', /allowed only after code, as in code:NAME/],
    ['constructor', /unknown fault constructor/],
    ['rate_limited*', /is not name/],
    ['rate_limited*x', /is not name/],
    ['rate_limited+', /is not name/],
    ['rate_limited*1234567890', /is not name/],
    ['rate_limited*0', /must be at least 1/],
    ['rate_limited@nowhere', /unknown stage nowhere\. The stages are accept, headers/],
    ['rate_limited;what=1', /rate_limited has no key "what"\. Its keys are retry-after, t/],
    ['rate_limited;__proto__=1', /has no key "__proto__"/],
    ['internal_error;t=1', /internal_error has no key "t"\. Its keys are retry-after/],
    [
      'rate_limited;retry-after',
      /the key retry-after of the fault rate_limited must be seconds, http-date, omit or garbage/,
    ],
    ['rate_limited;retry-after=x', /the key retry-after of the fault rate_limited must be seconds/],
    ['rate_limited;retry-after=-1', /the key retry-after of the fault rate_limited must be seconds/],
    ['rate_limited;t=1;t=2', /has the key t twice/],
    ['latency', /latency requires the key ms, as in latency;ms=VALUE: a whole number from 1/],
    ['latency;ms=0', /key ms of the fault latency must be a whole number from 1/],
    ['latency;ms=1.5', /key ms of the fault latency must be a whole number/],
    ['latency;ms=1;jitter=0', /key jitter of the fault latency must be a whole number from 1/],
    ['latency;ms=1;jitter=1;dist=gamma', /key dist of the fault latency must be one of uniform, normal, lognormal/],
    ['latency;ms=1;dist=normal', /the key dist of the fault latency requires the key jitter/],
    ['throttle;bps=0', /key bps of the fault throttle/],
    ['slice', /slice requires the key size, as in slice;size=VALUE/],
    ['slice;size=0', /key size of the fault slice must be a whole number from 1/],
    ['slice;size=1;pause=10001', /key pause of the fault slice must be a whole number from 0 to 10000/],
    ['hold', /hold requires the key latch/],
    ['hold;latch=a b', /key latch of the fault hold must be a name/],
    ['code;code=Big;status=400', /key code of the fault code must be a code/],
    ['code;code=x', /code requires the key status/],
    ['code;code=x;status=200', /the key status of the fault code must be a whole number from 400 to 599/],
    ['raw', /raw requires the key status/],
    ['raw;status=100', /the key status of the fault raw/],
    ['raw;status=200;body=a', /the key body of the fault raw must be base64url/],
    ['raw;status=200;type=text', /the key type of the fault raw must be a media type/],
    [
      'cut;bytes=1;fraction=0.5',
      /cut takes only one of the keys bytes, fraction, objects, trailer, but has bytes and fraction/,
    ],
    ['cut;fraction=2', /the key fraction of the fault cut must be a number from 0 to 1/],
    ['cut;how=bang', /the key how of the fault cut must be one of fin, rst, stall, end/],
    ['cut;trailer=2', /the key trailer of the fault cut must be one of 1/],
    ['sideband;band=1', /the key band of the fault sideband must be one of 2, 3/],
    ['sideband;text=%00', /the key text of the fault sideband/],
    ['sideband;text=%zz', /the key text of the fault sideband/],
    ['ng', /ng requires the key ref/],
    ['ng;ref=main', /the key ref of the fault ng must be the full name of a ref/],
    ['refuse', /refuse requires the key ms/],
    ['refuse;ms=60001', /key ms of the fault refuse must be a whole number from 1 to 60000/],
    ['tls', /tls requires the key how, as in tls;how=VALUE: one of expired, wrong-host, reset/],
    ['tls;how=weak', /key how of the fault tls must be one of expired, wrong-host, reset/],
    ['lost;how=end', /the key how of the fault lost must be one of fin, rst/],
    ['lost;how=fin;status=500', /lost takes only one of the keys how, status/],
  ];
  for (const [text, sentence] of rows) {
    try {
      parseFault(text, 'Here');
      t.fail(`${text} was read`);
    } catch (error) {
      t.ok(error instanceof Problem && error.code === 'bad_request', text);
      t.match((error as Problem).detail, sentence, text);
      t.match((error as Problem).detail, /^Here: .*\.$/, text);
    }
  }
});
