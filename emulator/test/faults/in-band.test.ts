import t, { type Test } from 'tap';
import { main } from '../../cli/main.js';
import type { GivenOptions } from '../../config/options.js';
import { Workbench } from '../../git/test/workbench.js';
import { type Service, type ServiceResponse, startService } from '../service.js';

async function stage(t: Test, options: GivenOptions = {}): Promise<Service> {
  const service = await startService({ testKeys: true, ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  return service;
}

async function ask(service: Service, emu: unknown, headers: Record<string, string> = {}): Promise<ServiceResponse> {
  const claims = emu === undefined ? {} : { emu };
  const token = await service.token({ repo: 'team/app', claims });
  return service.call('GET', '/api/v1/repo', { token, headers });
}

t.test('faults in a token work like those in a header', async (t) => {
  const service = await stage(t);
  const statuses = async (emu: unknown, count: number) => {
    const all: number[] = [];
    for (let n = 0; n < count; n++) all.push((await ask(service, emu)).status);
    return all;
  };
  t.same(await statuses({ faults: ['service_unavailable*2+1'] }, 4), [200, 503, 503, 200]);
  const outage = { do: { error: { code: 'gateway_timeout' } }, when: { times: 1 }, match: { op: 'getRepository' } };
  t.same(await statuses({ faults: [outage] }, 2), [504, 200]);
  t.same(await statuses({ faults: [{ sequence: [outage.do, 'pass', outage.do] }] }, 4), [504, 200, 504, 200]);
  t.same(await statuses({ faults: ['authentication_unavailable*1@auth'] }, 2), [403, 200]);
  const elsewhere = { do: outage.do, match: { op: 'commitPack' } };
  t.same(await statuses({ faults: [elsewhere] }, 1), [200], 'one for another operation rides along');
  const both = await ask(service, { faults: ['latency;ms=1'] }, { 'x-emulator-fault': 'conflict' });
  t.match(both, { status: 409, headers: { 'x-emulator-fault-fired': 'latency, conflict' } });
  t.match(service.emulator.requests().at(-1), { origin: 'injected:conflict', code: 'conflict' });
});

t.test('an invalid claim is refused with the allowed members', async (t) => {
  const service = await stage(t);
  const rows: readonly (readonly [emu: unknown, sentence: RegExp])[] = [
    ['conflict', /The claim emu must be an object with the members faults and scenario/],
    [null, /must be an object/],
    [[], /must be an object/],
    [{ fault: 'conflict' }, /has the unknown member "fault"\. Its members are faults and scenario/],
    [{ faults: 'conflict' }, /faults must be an array/],
    [{ faults: ['nonsense'] }, /faults\.0: unknown fault nonsense/],
    [{ faults: ['conflict', 5] }, /faults\.1: .*object/],
    [{ faults: [{ do: { error: { code: 'nonsense' } } }] }, /do\.error\.code/],
    [{ faults: ['internal_error@headers'] }, /the stage headers is over before a fault in a header or token is read/],
    [{ faults: [{ match: { op: 'none' }, do: { latency: { ms: 1 } } }] }, /unknown operation "none"/],
    [{ faults: Array(33).fill('conflict') }, /array of at most 32/],
    [{ scenario: 'a b' }, /name of a scenario may contain only/],
    [{ scenario: 5 }, /name of a scenario may contain only/],
  ];
  for (const [emu, sentence] of rows) {
    const response = await ask(service, emu);
    t.match(response, { status: 400, json: { code: 'bad_request', detail: sentence } }, JSON.stringify(emu));
  }
  t.equal((await ask(service, { faults: [], scenario: 's1' })).status, 200);
  t.equal(service.world.state.faults.list().length, 0, 'what was refused is not kept');
});

t.test('counters belong to one scenario and end with it', async (t) => {
  const service = await stage(t);
  const headers = (scenario: string) => ({ 'x-emulator-fault': 'conflict*1', 'x-emulator-scenario': scenario });
  const statuses: number[] = [];
  for (const scenario of ['s1', 's1', 's2', 's1', 's1']) {
    statuses.push((await ask(service, undefined, headers(scenario))).status);
  }
  t.same(statuses, [409, 200, 409, 409, 200]);
  t.match(await ask(service, undefined, { 'x-emulator-scenario': 'a b' }), { status: 400 });
  service.emulator.fault({ match: { scenario: 's?' }, do: { error: { code: 'bad_gateway' } } });
  t.equal((await ask(service, { scenario: 's9' })).status, 502, 'by the claim');
  t.equal((await ask(service, undefined, { 'x-emulator-scenario': 's9' })).status, 502, 'by the header');
  t.equal((await ask(service, { scenario: 's9' }, { 'x-emulator-scenario': 'other' })).status, 200, 'the header wins');
  t.equal((await ask(service, undefined)).status, 200);
});

t.test('if in-band faults are disabled, a request that carries one is refused', async (t) => {
  const rows: readonly (readonly [options: GivenOptions, status: number])[] = [
    [{}, 409],
    [{ inbandFaults: false }, 400],
    [{ host: '0.0.0.0', testKeys: true }, 400],
    [{ host: '0.0.0.0', testKeys: true, inbandFaults: true }, 409],
  ];
  for (const [options, status] of rows) {
    await t.test(JSON.stringify(options), async (t) => {
      const service = await stage(t, options);
      const asked = [
        await ask(service, undefined, { 'x-emulator-fault': 'conflict' }),
        await ask(service, { faults: ['conflict'] }),
        await ask(service, undefined, { 'x-emulator-fault': 'conflict', 'x-emulator-scenario': 's1' }),
      ];
      if (status === 400) asked.push(await ask(service, { scenario: 's' }), await ask(service, {}));
      if (status === 400) asked.push(await ask(service, undefined, { 'x-emulator-scenario': 's' }));
      for (const response of asked) {
        t.equal(response.status, status, response.text);
        if (status === 400) t.match(response.json.detail, /--inband-faults/);
      }
      service.emulator.fault({ when: { times: 1 }, do: { error: { code: 'bad_gateway' } } });
      t.equal((await ask(service, undefined)).status, 502, 'those that are registered are met all the same');
    });
  }
});

t.test('a fault that applies to only some requests of a Git session is not refused on the others', async (t) => {
  const service = await stage(t);
  const list = (fault: string, path = 'team/app.git/info/refs?service=git-upload-pack') =>
    service.call('GET', `/${path}`, { headers: { 'x-emulator-fault': fault } });
  t.equal((await list('cut@git.pack')).status, 200);
  t.equal((await list('ng;ref=refs/heads/main')).status, 200);
  t.equal((await list('ng')).status, 400, 'unless it cannot be read');
  t.equal((await list('cut@git.pack', 'api/v1/repo')).status, 400);
  t.equal((await list('rate_limited@git.advertise')).status, 429);
});

t.test('an in-band fault without effect is reported in the response and in the journal', async (t) => {
  const service = await stage(t);
  const IGNORED = 'x-emulator-fault-ignored';
  const send = async (target: string, headers: Record<string, string>, claims: object = {}) => {
    const token = await service.token({ repo: 'team/app', claims: { ...claims } });
    return service.call('GET', target, { token, headers });
  };
  const rows: readonly (readonly [target: string, headers: Record<string, string>, claims: object, told: RegExp])[] = [
    [
      '/api/v1/repo',
      { 'x-emulator-fault': 'sync_in_progress' },
      {},
      /^sync_in_progress did not fire: the state of the repository allows/,
    ],
    [
      '/api/repos',
      { 'x-emulator-fault': 'repository_thawing' },
      {},
      /^repository_thawing did not fire: .* listRepositories$/,
    ],
    ['/api/v1/repo', {}, { emu: { faults: ['sync_in_progress'] } }, /^sync_in_progress did not fire/],
    ['/api/v1/repo', { 'x-emulator-scenario': 'nope' }, {}, /^scenario nope has no effect: no scenario, step or fault/],
    ['/api/v1/repo', {}, { emu: { scenario: 'nope' } }, /^scenario nope has no effect/],
    [
      '/api/v1/repos/file?path=none',
      { 'x-emulator-fault': 'lost' },
      {},
      /^lost did not fire: the request did not reach the stage after$/,
    ],
    [
      '/api/nowhere',
      { 'x-emulator-fault': 'conflict' },
      {},
      /^X-Emulator-Fault has no effect: the request was refused before/,
    ],
    [
      '/api/v1/repo',
      {},
      { emu: { faults: [{ match: { repo: 'tëam/*', op: 'getRepository' }, do: { error: { code: 'conflict' } } }] } },
      /^conflict did not fire: repo is team\/app, not t\?am\/\*$/,
    ],
  ];
  for (const [target, headers, claims, told] of rows) {
    const response = await send(target, headers, claims);
    const what = JSON.stringify([target, headers, claims]);
    t.match(response.headers[IGNORED], told, what);
    t.equal(response.headers['x-emulator-fault-fired'], undefined, what);
    const { why } = service.emulator.requests().at(-1)!;
    t.ok(
      why.some((one) => told.test(one.replaceAll(/[^ -~]/g, '?'))),
      `${what}: ${why.join('; ')}`,
    );
  }
  const quiet = async (headers: Record<string, string>, claims: object = {}, target = '/api/v1/repo') =>
    (await send(target, headers, claims)).headers[IGNORED];
  t.equal(await quiet({ 'x-emulator-fault': 'conflict*1+1' }), undefined, 'a counter lets it pass');
  t.equal(await quiet({ 'x-emulator-fault': 'conflict*1', 'x-emulator-scenario': 's1' }), undefined, 'names a counter');
  t.equal(
    await quiet({}, { emu: { faults: [{ match: { op: 'grep' }, do: { hold: 'x' } }] } }),
    undefined,
    'for others',
  );
  t.equal(await quiet({ 'x-emulator-fault': 'lost@git.report' }, {}, '/team/app.git/info/refs'), undefined);
  service.emulator.fault({ match: { scenario: 'n*', op: 'grep' }, do: { error: { code: 'conflict' } } });
  t.equal(await quiet({ 'x-emulator-scenario': 'nope' }), undefined, 'a fault is for it');
  t.match(await quiet({ 'x-emulator-scenario': 'other' }), /^scenario other/);
  const scenario = { id: 'other', steps: [{ on: { scenario: 'step*', op: 'grep' }, release: 'x' }] };
  const made = await service.call('POST', '/_emulator/scenarios', { token: null, json: scenario });
  t.equal(made.status, 201, made.text);
  t.equal(await quiet({ 'x-emulator-scenario': 'other' }), undefined, 'it is registered');
  t.equal(await quiet({ 'x-emulator-scenario': 'step1' }), undefined, 'a step waits for it');
});

t.test('an unknown route as a fault is problem details on file metadata too', async (t) => {
  const service = await stage(t);
  const headers = { 'x-emulator-fault': 'route_not_found' };
  t.match(await service.call('GET', '/api/v1/repos/files/metadata', { headers }), {
    status: 404,
    headers: { 'content-type': 'application/problem+json' },
    json: { code: 'route_not_found' },
  });
});

/** Runs `emulator token`, which prints a signed token. Returns the exit code and the output. */
async function token(...argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await main(['token', '--repo', 'team/app', ...argv], {
    print: (text) => {
      out += text;
    },
    printed: () => Promise.resolve(undefined),
    warn: (text) => {
      err += text;
    },
    input: async () => '',
    isInteractive: false,
    columns: 100,
    environment: {},
    now: () => Date.now(),
  });
  return { code, out: out.trim(), err };
}

t.test('faults in a token apply to git', async (t) => {
  const service = await stage(t);
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  const clone = async (into: string, ...argv: readonly string[]) => {
    const { out } = await token(...argv);
    return bench.try(
      '.',
      'clone',
      '-q',
      `${service.emulator.gitUrl.replace('://', `://t:${out}@`)}/team/app.git`,
      into,
    );
  };
  const refused = await clone('a', '--fault', 'repository_thawing*1');
  t.match(refused, { status: 128, stderr: /being restored from cold storage(?:.|\n)*returned error: 409/ });
  t.equal((await clone('b', '--fault', 'repository_thawing*1')).status, 0, 'the counter goes on with the same name');
  const late = await clone('c', '--fault', 'internal_error*1@git.pack', '--scenario', 's1');
  t.match(late, { status: 128, stderr: /HTTP 500|error: 500/ });
  t.match(service.emulator.requests().at(-1), { operation: 'gitUploadPack', origin: 'injected:internal_error' });
});

t.test('a token with a fault that could never fire is not minted', async (t) => {
  for (const [argv, sentence] of [
    [['--fault', 'nonsense'], /--fault: unknown fault nonsense/],
    [['--fault', 'conflict', '--fault', 'latency'], /--fault: the fault latency requires the key ms/],
    [['--fault', 'conflict@headers'], /--fault: at: the stage headers is over before/],
    [['--scenario', 'a b'], /^--scenario must be a name/],
  ] as const) {
    const { code, out, err } = await token(...argv);
    t.same([code, out], [2, ''], argv.join(' '));
    t.match(err, sentence);
  }
  const { out } = await token('--fault', 'conflict*1,latency;ms=5', '--fault', 'lost', '--scenario', 's/1');
  const payload = JSON.parse(Buffer.from(out.split('.')[1]!, 'base64url').toString());
  t.same(payload.emu, { faults: ['conflict*1', 'latency;ms=5', 'lost'], scenario: 's/1' });
});
