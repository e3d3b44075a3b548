import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { EmulatedService } from '../../index.js';
import { run, startAsked } from '../test/run.js';

/** Sends an HTTP request to the emulated service, with a token for the repository `r`. */
async function send(emulator: EmulatedService, path: string, { method = 'GET', sub = 'me', headers = {} } = {}) {
  const token = await emulator.token({ repo: 'r', sub, scopes: ['git:read', 'git:write', 'repo:write'] });
  const response = await fetch(`${emulator.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  await response.text();
  return response.status;
}

/** Writes `content` to a new temporary file and returns its path. An object is written as JSON. */
function write(t: Test, content: string | object): string {
  const folder = existsSync(t.testdirName) ? t.testdirName : t.testdir({});
  const file = join(mkdtempSync(join(folder, 'given-')), 'file');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

t.test('faults are added, listed, shown and removed', async (t) => {
  const { emulator, ask } = await startAsked(t);
  await send(emulator, '/api/repos', { method: 'POST' });
  t.same(await ask.text('fault', 'add', 'bad_gateway*1', '--op', 'getRepository'), {
    code: 0,
    out: 'fault-1\n',
    err: '',
  });
  t.equal(await send(emulator, '/api/v1/repos/branches'), 200);
  t.equal(await send(emulator, '/api/v1/repo'), 502);
  t.equal(await send(emulator, '/api/v1/repo'), 200);
  const added = await ask.json(
    'fault',
    'add',
    'not_implemented',
    '--repo',
    'r*',
    '--sub',
    'you',
    '--op',
    'list*,getRef*',
  );
  t.match(added, { code: 2, err: /getRef\*/ });
  const narrow = await ask.json(
    'fault',
    'add',
    'not_implemented',
    '--repo',
    'r*',
    '--sub',
    'you',
    '--op',
    'list*,get*',
  );
  t.match(narrow.json, { id: 'fault-2', match: { op: ['list*', 'get*'], repo: 'r*', token: { sub: 'you' } } });
  t.equal(await send(emulator, '/api/v1/repo'), 200);
  t.equal(await send(emulator, '/api/v1/repo', { sub: 'you' }), 501);
  t.match((await ask.json('fault', 'add', 'ng;ref=refs/heads/x', '--ref', 'refs/heads/x')).json, {
    id: 'fault-3',
    match: { git: { ref: 'refs/heads/x' } },
  });
  t.match((await ask.json('fault', 'add', 'latency;ms=1, throttle;bps=1000000')).json, [
    { id: 'fault-4', do: { latency: { ms: 1 } } },
    { id: 'fault-5', do: { throttle: { bps: 1_000_000 } } },
  ]);
  await send(emulator, '/api/v1/repo', { headers: { 'x-emulator-fault': 'bad_gateway*1' } });
  const { out } = await ask.text('fault', 'ls');
  t.match(
    out,
    /^ID +SOURCE +STATE +FIRED +MATCHED +LEFT +FAULT\nfault-1 +registered +enabled +1 +\d+ +0 +bad_gateway\*1;match\.op=getRepository\n/,
  );
  t.match(out, /\nbad_gateway +in-band +enabled +1 +1 +0 +bad_gateway\*1\n/);
  t.match((await ask.json('fault', 'ls')).json, [{ id: 'fault-1', fired: 1 }, {}, {}, {}, {}, { source: 'in-band' }]);
  t.match((await ask.json('fault', 'show', 'fault-1')).json, { id: 'fault-1', fired: 1, remaining: 0 });
  t.same(await ask.text('fault', 'rm', 'fault-1'), { code: 0, out: '', err: '' });
  t.same((await ask.json('fault', 'rm', 'fault-2')).json, { id: 'fault-2', removed: true });
  t.same(
    (await ask.json('fault', 'ls')).json.map(({ id }: { id: string }) => id),
    ['fault-3', 'fault-4', 'fault-5', 'bad_gateway'],
  );
});

t.test('faults of a file, in JSON and in YAML, are added all or none', async (t) => {
  const { ask } = await startAsked(t);
  const outage = { match: { op: 'git*' }, when: { times: 2 }, do: { error: { code: 'service_unavailable' } } };
  t.equal((await ask.text('fault', 'add', '--file', write(t, outage))).out, 'fault-1\n');
  const yaml = '- spec: bad_gateway\n  match: { op: getRepository }\n- cut*1;bytes=3\n';
  t.equal((await ask.text('fault', 'add', '--file', write(t, yaml))).out, 'fault-2\nfault-3\n');
  const half = await ask.text('fault', 'add', '--file', write(t, [outage, { ...outage, at: 'lunch' }]));
  t.match(half, { code: 2, out: '', err: /^faults\.1: at: / });
  t.equal((await ask.json('fault', 'ls')).json.length, 3);
  t.equal(
    (await ask.json('fault', 'add', '--file', write(t, 'not_implemented'))).json.do.error.code,
    'not_implemented',
  );
});

t.test('releasing a latch prints the number of released requests and states', async (t) => {
  const { emulator, ask } = await startAsked(t);
  await send(emulator, '/api/repos', { method: 'POST' });
  t.equal((await ask.text('latch', 'release', 'door')).out, '0\n');
  await ask.text('fault', 'add', 'hold*1;latch=door');
  const held = send(emulator, '/api/v1/repo');
  let released = 0;
  for (let turn = 0; released === 0 && turn < 10_000; turn++) {
    released = (await ask.json('latch', 'release', 'door')).json.released;
  }
  t.equal(released, 1);
  t.equal(await held, 200);
});

t.test('quotas are set, shown and removed', async (t) => {
  const { emulator, ask } = await startAsked(t);
  t.same(await ask.text('quota', 'set', 'gateway', '{"capacity":1,"refill":"1/h"}'), { code: 0, out: '', err: '' });
  t.match(await ask.text('quota'), { out: /^NAME +CAPACITY.*\ngateway +1 +1\/h +org +\{"\*":1\}\n$/ });
  t.match((await ask.json('quota', 'show')).json, { quotas: { gateway: { capacity: 1, refill: '1/h' } } });
  t.equal(await send(emulator, '/api/repos', { method: 'POST' }), 201);
  t.equal(await send(emulator, '/api/v1/repo'), 429);
  t.match((await ask.json('quota', 'rm', 'gateway')).json, { quotas: {} });
  t.equal(await send(emulator, '/api/v1/repo'), 200);
});

t.test('namespaces are created, listed, used and removed', async (t) => {
  const { emulator, ask } = await startAsked(t);
  await send(emulator, '/api/repos', { method: 'POST' });
  const { out } = await ask.text('snapshot', 'add');
  t.match(await ask.text('namespace', 'add', '--snapshot', out.trim(), '--seed', 's'), { code: 0, out: 'ns-1\n' });
  const { json } = await ask.json('namespace', 'add', '--clock', '2030-01-01T00:00:00Z');
  t.match(json, { id: 'ns-2', base_url: /^http:/, admin_url: /_emulator$/ });
  t.match(await ask.text('namespace', 'ls'), { out: new RegExp(`\\nns-2 +demo +${json.base_url}\\n$`) });
  t.match((await ask.json('namespace', 'ls')).json, [{ id: 'ns-1' }, { id: 'ns-2' }]);
  const named = (...argv: string[]) => ask.text(...argv, '--namespace', 'ns-2');
  t.match(await named('clock'), { out: /^2030-01-01/ });
  t.match(await ask.text('clock', '--namespace', 'ns-1'), { out: /^2026-01-01/ });
  t.match(await ask.json('repo', 'ls', '--namespace', 'ns-1'), { json: [{ name: 'r' }] });
  t.equal((await named('fault', 'add', 'bad_gateway')).out, 'fault-1\n');
  t.same((await ask.json('fault', 'ls')).json, []);
  t.equal((await ask.json('fault', 'ls', '--namespace', 'ns-2')).json.length, 1);
  const missing = await ask.text('fault', 'ls', '--namespace', 'ns-9');
  t.same([missing.code, missing.out], [2, '']);
  t.match(missing.err, /^The emulator at http:\S+ has no namespace "ns-9"\.\n$/);
  t.same((await ask.json('namespace', 'rm', 'ns-1')).json, { id: 'ns-1', removed: true });
  t.match(await named('stop'), { code: 2, err: /Unknown argument/ });
  t.equal((await ask.json('namespace', 'ls')).json.length, 1);
});

t.test('requests are filtered in a list and in a stream', async (t) => {
  const { emulator, ask } = await startAsked(t);
  await send(emulator, '/api/repos', { method: 'POST' });
  await send(emulator, '/api/v1/repos/branches');
  await send(emulator, '/api/v1/repos/commit?sha=none');
  await send(emulator, '/api/v1/repo', { headers: { 'x-emulator-fault': 'bad_gateway' } });
  await fetch(`${emulator.baseUrl}/nowhere`);
  for (const [argv, paths] of [
    [
      ['--op', 'listBranches,getRepository'],
      ['/api/v1/repos/branches', '/api/v1/repo'],
    ],
    [
      ['--op', 'listBranches', '--op', 'getRepository'],
      ['/api/v1/repos/branches', '/api/v1/repo'],
    ],
    [
      ['--status', '4xx'],
      ['/api/v1/repos/commit', '/nowhere'],
    ],
    [
      ['--status', '201,502'],
      ['/api/repos', '/api/v1/repo'],
    ],
    [
      ['--code', 'route_not_found,ref_not_found'],
      ['/api/v1/repos/commit', '/nowhere'],
    ],
    [['--origin', 'injected'], ['/api/v1/repo']],
    [['--origin', 'injected:bad_gateway'], ['/api/v1/repo']],
    [['--repo', 'r', '--status', '404'], ['/api/v1/repos/commit']],
    [['--repo', 'none'], []],
  ] as const) {
    const { json } = await ask.json('requests', ...argv);
    t.same(
      json.map(({ path }: { path: string }) => path),
      paths,
      argv.join(' '),
    );
  }
  let printed = 0;
  const followed = await run(
    ['requests', '--follow', '--json', '--status', '5xx', '--url', emulator.baseUrl],
    {},
    () => {
      printed++;
      void ask.text('stop');
    },
  );
  t.match(followed.out, /^\{[^\n]*"path":"\/api\/v1\/repo"[^\n]*\}\n$/);
  t.equal(printed, 1);
});

t.test('verify prints unmet expectations with the nearest requests, and exits with 1', async (t) => {
  const { emulator, ask } = await startAsked(t);
  t.same(await ask.text('verify'), { code: 0, out: 'met\n', err: '' });
  await ask.text('fault', 'add', 'bad_gateway*1');
  t.match(await ask.text('verify'), {
    code: 1,
    out: /^faults\.fault-1: The fault .* \(fault-1\) fired 0 times, but should fire at least 1\.\nnot met\n$/,
  });
  t.equal(await send(emulator, '/api/repos', { method: 'POST' }), 502);
  t.equal(await send(emulator, '/api/repos', { method: 'POST' }), 201);
  t.match(await ask.text('verify'), { code: 0, out: 'met\n' });
  const wanted = {
    requests: [{ match: { operation: 'createRepository', status: 502 }, count: 1 }, { match: { status: 404 } }],
  };
  const unmet = await ask.text('verify', '--file', write(t, wanted));
  t.equal(unmet.code, 1);
  t.equal(
    unmet.out,
    [
      'requests.1: Expected at least 1 matching request, found 0.',
      '  expected {"match":{"status":404}}',
      'not met',
      '',
    ].join('\n'),
  );
  const near = { requests: [{ match: { operation: 'createRepository', code: 'not_implemented' } }] };
  t.match(await ask.text('verify', '--file', write(t, near)), {
    code: 1,
    out: /\n {2}nearest {2}req-\d+ POST \/api\/repos 201: code is null, not "not_implemented"\n {2}nearest {2}req-\d+ POST \/api\/repos 502 bad_gateway: code is "bad_gateway", not "not_implemented"\nnot met\n$/,
  });
  const yaml = 'requests:\n  - match: { operation: createRepository }\n    count: 2\n';
  t.match(await ask.text('verify', '--file', write(t, yaml)), { code: 0, out: 'met\n' });
  t.match(await ask.json('verify', '--file', write(t, wanted)), {
    code: 1,
    json: { met: false, unmet: [{ at: 'requests.1' }] },
  });
});

t.test('verify --client checks the client rules', async (t) => {
  const { emulator, ask } = await startAsked(t, { clock: 'real' });
  t.match(await ask.text('verify', '--client'), {
    code: 0,
    out: /^rules for clients: 0 kept, 0 broken, \d+ not applicable\nmet\n$/,
  });
  await ask.text('fault', 'add', 'service_unavailable*1;retry-after=60');
  await send(emulator, '/api/repos', { method: 'POST' });
  await send(emulator, '/api/repos', { method: 'POST' });
  const impolite = await ask.text('verify', '--client');
  t.equal(impolite.code, 1);
  t.match(impolite.out, /^broken rule for clients [\w-]+ \(must\): .+\n {2}req-00000002 after req-00000001: .+\n/);
  t.match(impolite.out, /\nnot met\n$/);
  t.match((await ask.json('verify', '--client')).json, { met: false, unmet: [] });
  t.match(await ask.text('verify'), { code: 0 }, 'not asked for');
});

t.test('a refusal of the emulator and an invalid argument are one sentence and exit code 2', async (t) => {
  const { ask } = await startAsked(t);
  const file = write(t, '{"a": [');
  for (const [argv, sentence] of [
    [['fault'], /^fault requires an action\. Its actions are add, ls, rm, show, disable, enable\./],
    [['fault', 'add'], /^fault add needs a fault, or --file\./],
    [['fault', 'add', 'nonsense'], /unknown fault nonsense/],
    [['fault', 'add', 'bad_gateway', '--op', 'none'], /^The fault: match\.op: unknown operation "none"/],
    [['fault', 'add', 'bad_gateway', '--file', file], /^fault add takes a fault or --file, but not both\./],
    [['fault', 'add', '--file', file, '--op', 'grep'], /^fault add does not combine --file with --op/],
    [['fault', 'add', '--file', file], /^--file: the file .* is neither JSON nor YAML: /],
    [['fault', 'add', '--file', '/none'], /^--file: the file "\/none" cannot be read: no such file or directory\./],
    [['fault', 'add', '--file', '/dev/zero'], /^--file: the file .* cannot be read: it is larger than 1 MiB\./],
    [
      ['fault', 'add', '--file', write(t, '['.repeat(1000))],
      /^--file: the file .* is neither .* nested deeper than 64 levels/,
    ],
    [['verify', '--file', '/dev/zero'], /^--file: the file .* cannot be read: it is larger than 1 MiB\./],
    [['env', '--ready-file', '/dev/zero'], /ready/],
    [['fault', 'add', '--file', write(t, '[]')], /^--file must contain at least one fault/],
    [
      ['fault', 'add', '--file', write(t, '["lost",1]')],
      /^--file must contain a fault or a list of faults: faults\.1 of /,
    ],
    [
      ['fault', 'add', '--file', write(t, '["lost",{"do":{"eror":1}}]')],
      /^faults\.1: do: Unknown member "eror"; the members are/,
    ],
    [
      ['fault', 'add', '--file', write(t, '["lost","cut","ng"]')],
      /^faults\.2: spec: the fault ng requires the key ref/,
    ],
    [
      ['fault', 'add', '--file', write(t, '["lost",{"spec":"cut","match":{"op":"none"}}]')],
      /^faults\.1: match\.op: unknown/,
    ],
    [['fault', 'add', '--file', write(t, '{}')], /do/],
    [['fault', 'ls', '--op', 'grep'], /^fault ls takes none of --op/],
    [['fault', 'ls', 'x'], /^fault ls takes no further argument/],
    [['fault', 'rm'], /^fault rm needs the id of a fault/],
    [['fault', 'rm', 'a/b'], /^The fault "a\/b" does not exist/],
    [['fault', 'show', 'none'], /^The fault "none" does not exist/],
    [['latch'], /^latch requires an action\. Its actions are release\./],
    [['latch', 'release'], /^latch release needs the name/],
    [['quota', 'set'], /^quota set needs the name/],
    [['quota', 'set', 'q'], /^quota set needs a quota, such as/],
    [['quota', 'set', 'q', '[]'], /^quota set takes a JSON object, such as/],
    [['quota', 'set', 'q', '{"capacity":0,"refill":"1/s"}'], /quotas\.q\.capacity/],
    [['quota', 'set', 'q', '{"capacity":1,"refill":"1/s","color":1}'], /"color"/],
    [['quota', 'rm', 'none'], /^The quota "none" does not exist/],
    [['quota', 'rm', 'q', '{}'], /^quota rm takes no further argument/],
    [['quota', 'show', 'q'], /^quota show takes no further argument/],
    [['namespace'], /^namespace requires an action\. Its actions are add, ls, rm\./],
    [['namespace', 'add', 'x'], /^namespace add takes no further argument/],
    [['namespace', 'add', '--snapshot', 'none'], /snapshot: the snapshot "none" does not exist/],
    [['namespace', 'add', '--clock', 'soon'], /clock/],
    [['namespace', 'rm'], /^namespace rm needs the id/],
    [['namespace', 'rm', 'none'], /^The namespace "none" does not exist/],
    [['namespace', 'ls', '--seed', 's'], /^namespace ls takes no --seed/],
    [['fault', 'ls', '--namespace', 'a b'], /^--namespace must be the id of a namespace/],
    [['requests', '--op', 'none'], /unknown operation "none"/],
    [['requests', '--status', '9'], /status/],
    [['requests', '--origin', 'me'], /origin/],
    [['verify', 'x'], /Unknown argument: x/],
    [['verify', '--file', write(t, '[]')], /^--file .* must contain an object with expectations/],
    [['verify', '--file', write(t, '{"color":1}')], /"color"/],
    [['verify', '--file', write(t, '{"requests":[{"match":{"status":"9"}}]}')], /requests\.0\.match\.status/],
  ] as const) {
    const { code, out, err } = await ask.text(...argv);
    t.same([code, out], [2, ''], argv.join(' '));
    t.match(err, sentence);
    t.match(err, /^[^\n]+[.?]\n$/, 'one sentence');
  }
});

t.test('faults prints all kinds of faults, or one', async (t) => {
  const all = await run(['faults']);
  t.match(all, { code: 0, err: '' });
  t.match(
    all.out,
    /^name\[\*times\].*\n\nNAME +KEYS +STAGE +WHAT\nany code +\[retry-after=\] +before +.*rate_limited also has t=\n/,
  );
  t.match(
    all.out,
    /\nng +ref= \[reason=\] +git\.report +reports to the Git client that the push of the ref was refused\n/,
  );
  t.match(all.out, /\nrepository_thawing +409 +state\n/);
  const one = await run(['faults', 'drop_object']);
  t.equal(
    one.out,
    'drop_object: sends a valid pack in which the n-th blob (counted from 0) is missing\n' +
      'stages: git.pack; default git.pack\n' +
      '  bytes=  Index of the blob to omit, among the blobs of the pack (default: 0): a whole number from 0 to 1000000000\n',
  );
  const raw = (await run(['faults', 'raw'])).out;
  t.match(raw, /\n {2}status= {2}HTTP status: a whole number from 200 to 599 \(required\)\n/);
  const { names, codes } = JSON.parse((await run(['faults', 'bad_gateway', '--json'])).out);
  t.match([names, codes], [[{ name: 'bad_gateway' }], [{ code: 'bad_gateway', status: 502, way: 'fault' }]]);
  t.match(
    (await run(['faults', 'acme_app_not_configured'])).out,
    /^acme_app_not_configured: 412.*# 412, caused by a simulated state/s,
  );
  const renamed = JSON.parse((await run(['faults', '--json', '--forge-prefix', 'acme'])).out);
  t.match(JSON.stringify(renamed), /"acme_repository_inaccessible".*"code":"acme_app_not_configured"/);
  t.notMatch(JSON.stringify(renamed), '"forge_');
  t.match(await run(['faults', '--forge-prefix', 'A-B']), { code: 2, err: /--forge-prefix/ });
  t.match(
    await run(['token', '--repo', 'r', '--fault', 'acme_app_not_configured']),
    { code: 0 },
    'whatever the service calls it',
  );
  t.match(await run(['token', '--repo', 'r', '--fault', 'acme_not_configured']), {
    code: 2,
    err: /unknown fault acme_not_configured/,
  });
  t.match(await run(['faults', 'none']), {
    code: 2,
    out: '',
    err: /^Unknown fault "none"\. `emulator faults` lists/,
  });
  t.match(await run(['faults', '--json', '--markdown']), { code: 2, err: /cannot be combined/ });
});

t.test('every fault of the reference has stages', async (t) => {
  const { names, stages } = JSON.parse((await run(['faults', '--json'])).out);
  for (const { name, about, stages: allowed, defaultStages } of names) {
    t.ok(about && allowed.length > 0 && defaultStages.length > 0, name);
    t.same(
      [...allowed, ...defaultStages].filter((stage: string) => !(stage in stages)),
      [],
      name,
    );
    t.same(
      defaultStages.filter((stage: string) => !allowed.includes(stage)),
      [],
      name,
    );
  }
});
