import t, { type Test } from 'tap';
import { main } from '../cli/main.js';
import { run, startTargetEmulator, Unready } from '../index.js';
import { reporterOf } from '../report/reporters.js';
import type { Report } from '../report/results.js';
import { allRules } from '../rules/registry.js';
import { afterPreflight, always, startTestServer } from './test-server.js';

t.setTimeout(180_000);

/**
 * Ids of four rules that this file makes fail through the emulator's admin API. Each rule needs a different feature of
 * that API.
 */
const BY_ADMIN = ['filemeta.ref.fallback-head', 'filemeta.err.408', 'filemeta.err.429.too-many', 'err.generic.499'];
const FIRED = { 'x-emulator-fault-fired': 'flt-1' };
/** Verdicts of a rule that could not judge any response. */
const ABOUT_NOTHING = ['skip', 'error'];

const verdictsOf = ({ rules }: Report) => Object.fromEntries(rules.map(({ id, verdict }) => [id, verdict]));
const all = (verdict: string) => Object.fromEntries(BY_ADMIN.map((id) => [id, verdict]));

t.test('only rules of reach emulator are checked on responses that a fault produced', async (t) => {
  for (const status of [200, 500]) {
    const server = await startTestServer(afterPreflight(always(status, 'application/json', '{}', FIRED)));
    const report = await run({ ...server.target, companion: true }, { timeout: 3000, rate: Number.POSITIVE_INFINITY });
    await server.close();
    t.equal(report.rules.length, allRules().length);
    const wrong = report.rules.filter(
      ({ reach, verdict, evidence }) =>
        reach !== 'emulator' && (!ABOUT_NOTHING.includes(verdict) || evidence !== undefined),
    );
    t.same(
      wrong.map(({ id, verdict }) => `${id}: ${verdict}`),
      [],
    );
    const tried = report.rules.find(({ id }) => id === 'other.meta.exists');
    t.match(tried, { verdict: 'error', reason: /^InjectedEvidence: the fault flt-1 answered GET \/api\/meta/ });
    t.equal(report.exit_code, 4, 'it is a mistake of the suite');
  }
});

t.test('a rule of reach emulator is marked if a fault produced its response', async (t) => {
  const emulator = await startTargetEmulator();
  t.teardown(() => emulator.close());
  const only = 'err.generic.500,err.generic.499,err.generic.404,filemeta.err.408';
  const report = await run(emulator.target, { only });
  t.same(Object.fromEntries(report.rules.map(({ id, verdict, evidence }) => [id, [verdict, evidence]])), {
    'err.generic.500': ['pass', 'injected'],
    'err.generic.499': ['pass', 'observed'],
    'err.generic.404': ['pass', 'observed'],
    'filemeta.err.408': ['pass', 'injected'],
  });
  t.equal(JSON.parse(reporterOf('json', false)(report)).rules[0].evidence, report.rules[0]?.evidence);
});

t.test('without the admin token, rules that need it are skipped; with a wrong token, nothing is checked', async (t) => {
  const emulator = await startTargetEmulator('--admin-token', 'canary-token');
  t.teardown(() => emulator.close());
  const { adminToken, ...target } = emulator.target;
  const only = [...BY_ADMIN, 'err.generic.500'].join();
  t.equal(adminToken, 'canary-token');
  const report = await run(emulator.target, { only });
  t.same(verdictsOf(report), { ...all('pass'), 'err.generic.500': 'pass' });
  t.notMatch(JSON.stringify(report), /canary/, 'which no report shows');
  const without = await run(target, { only });
  t.same(verdictsOf(without), { ...all('skip'), 'err.generic.500': 'pass' }, 'faults in band need none');
  const reasons = new Set(without.rules.flatMap(({ verdict, reason }) => (verdict === 'skip' ? [reason] : [])));
  t.same([...reasons], ["needs the emulator's admin token: --admin-token or EMULATOR_ADMIN_TOKEN"]);
  await t.rejects(run({ ...target, adminToken: 'wrong' }, { only }), Unready);

  const { org, key, baseUrl } = target;
  const flags = ['--base-url', baseUrl, '--org', org, '--key', key.file, '--only', only, '--reporter', 'json'];
  const conformance = async (...more: string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = {
      print: (text: string) => void out.push(text),
      warn: (text: string) => void err.push(text),
      printed: () => Promise.resolve(undefined),
    };
    const code = await main(['run', ...flags, ...more], terminal);
    return { code, out: out.join(''), err: err.join('') };
  };
  t.same(verdictsOf(JSON.parse((await conformance()).out)), { ...all('skip'), 'err.generic.500': 'pass' });
  const given = await conformance('--admin-token', 'canary-token');
  t.same(verdictsOf(JSON.parse(given.out)), { ...all('pass'), 'err.generic.500': 'pass' });
  t.match(await conformance('--admin-token', 'wrong'), { code: 3, err: 'the emulator rejects the admin token\n' });
  process.env.EMULATOR_ADMIN_TOKEN = 'canary-token';
  t.teardown(() => delete process.env.EMULATOR_ADMIN_TOKEN);
  t.equal((await conformance()).code, 0, 'the environment can hold it');
});

t.test('rules that need in-band faults are skipped if these are disabled', async (t) => {
  const emulator = await startTargetEmulator('--host', '0.0.0.0', '--test-keys');
  t.teardown(() => emulator.close());
  const report = await run(emulator.target, { only: [...BY_ADMIN, 'err.generic.500'].join() });
  const skipped = { 'filemeta.err.408': 'skip', 'err.generic.500': 'skip' };
  t.same(verdictsOf(report), { ...all('pass'), ...skipped }, 'the admin token is in a file');
});

t.test('a target that identifies itself as an emulator needs no admin address', async (t) => {
  const emulator = await startTargetEmulator();
  t.teardown(() => emulator.close());
  const { adminUrl, ...target } = emulator.target;
  const report = await run(target, { only: BY_ADMIN.join() });
  t.same(verdictsOf(report), all('pass'));
  t.ok(adminUrl);
  t.equal(report.target.emulator, true);
});

t.test('the suite registers a restricted key to test what it may not sign', async (t) => {
  const emulator = await startTargetEmulator();
  t.teardown(() => emulator.close());
  const { restrictedKey, ...without } = emulator.target;
  t.same(restrictedKey?.allowedScopes, ['git:read', 'org:read']);
  const only = 'restricted.*';
  const given = await run(emulator.target, { only });
  const none = await run(without, { only });
  for (const report of [given, none]) {
    t.same([...new Set(Object.values(verdictsOf(report)))], ['pass']);
    t.notMatch(JSON.stringify(report), 'left out');
  }
  const asked = ({ rules }: Report) => rules.find(({ id }) => id === 'restricted.lifetime.3601')?.requests;
  t.equal(asked(given), asked(none), 'every place is tried, whoever made the key');
});

/**
 * Starts a test server with an admin API and a request journal (list of recorded requests). At first, the journal shows
 * two requests as unfinished. When the suite reads the journal again, both are finished and have the members of
 * `answered`.
 */
async function startJournal(t: Test, answered: object) {
  const entry = { outcome: 'gone', ...answered };
  let looks = 0;
  const admin: Parameters<typeof startTestServer>[1] = (request, response) => {
    const isJournal = request.url?.includes('/requests?subject=') === true;
    looks += isJournal ? 1 : 0;
    const outcome = looks < 3 ? 'open' : 'gone';
    const json = isJournal ? { items: [looks < 3 ? { ...entry, outcome, status: 408 } : entry] } : { emulator: true };
    always(200, 'application/json', JSON.stringify(json))(request, response);
  };
  const made =
    '{"commit":{"commit_sha":"5ca1ab1e0ddba11c0ffee000facade0123456789","tree_sha":"x"},"result":{"old_sha":""}}';
  const answer: Parameters<typeof startTestServer>[0] = (request, response) => {
    const isAsked = request.headers['x-emulator-fault'] !== undefined;
    always(201, 'application/json', made, isAsked ? FIRED : {})(request, response);
  };
  const server = await startTestServer(afterPreflight(answer), admin);
  t.teardown(() => server.close());
  return run(server.target, { only: 'filemeta.err.408,err.generic.499' });
}

const HELD = [['X-Emulator-Fault-Fired', 'hold']];

t.test('the journal entry of a disconnected client is checked', async (t) => {
  const body = { text: '{"code":"internal_error"}' };
  const report = await startJournal(t, { status: 500, answer: { headers: HELD, body } });
  t.same(verdictsOf(report), { 'filemeta.err.408': 'fail', 'err.generic.499': 'fail' });
  t.match(report.rules[0]?.transcript?.at(-1), { response: /^500\n/ }, 'once it has ended');
});

t.test('the journal entry of a partly sent response has the error code', async (t) => {
  for (const text of ['', '{"titl', '{"code":"request_cancel']) {
    const response = { headers: HELD, body: { text } };
    const report = await startJournal(t, { status: 499, code: 'request_canceled', answer: response });
    t.match(verdictsOf(report), { 'err.generic.499': 'pass' }, text);
  }
});
