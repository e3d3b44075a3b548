import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import t from 'tap';
import { EmptySelection, run, Unready } from '../index.js';
import type { Report } from '../report/results.js';
import { allRules } from '../rules/registry.js';
import { writeRuleTable } from '../rules/rule-table.js';
import { packageRoot } from '../target/package-root.js';
import type { Target } from '../target/target.js';
import { conformance } from './deployment.js';
import { afterPreflight, always, minimal, startTestServer, targetAt } from './test-server.js';

t.setTimeout(180_000);

/** Requests per second. Not limited, because the test servers run on this machine. */
const rate = Number.POSITIVE_INFINITY;

/**
 * Returns a copy of the target (service under test) that forbids writes. Before a run with writes, the suite checks
 * that it can delete repositories, which these servers do not support.
 */
const reading = (target: Target): Target => ({ ...target, write: false });

/**
 * Returns the share of MUST rules that fail or are blocked, from 0 to 1. Rules with the verdict skip or error do not
 * count.
 */
function brokenShare(report: Report): number {
  const tried = report.rules.filter(({ level, verdict }) => level === 'MUST' && !['skip', 'error'].includes(verdict));
  return tried.filter(({ verdict }) => verdict === 'fail' || verdict === 'blocked').length / tried.length;
}

t.test('the list of rules equals the published one: no id is lost, renamed or reused', async (t) => {
  const published = readFileSync(join(packageRoot(), 'fixtures', 'rules.tsv'), 'utf8');
  t.equal(writeRuleTable(allRules()), published, 'npx conformance list --tsv prints fixtures/rules.tsv');
});

t.test('no two rules have the same sentence', async (t) => {
  const sentences = new Set<string>();
  for (const { id, says } of allRules()) {
    if (!/^\S.*\.$/.test(says)) t.fail(`${id}: "${says}" is no sentence`);
    sentences.add(says);
  }
  t.ok(sentences.size > 0.85 * allRules().length, 'few sentences are repeated between operations');
});

const WRONG: Record<string, ReturnType<typeof always>> = {
  'answers {} to everything': always(200, 'application/json', '{}'),
  'answers a page for people': always(200, 'text/html', '<!doctype html><title>Sign in</title>'),
  'answers 500 to everything': always(500, 'text/plain', 'oops'),
  'answers nothing but a status': always(204, 'application/json', ''),
};

for (const [what, answer] of Object.entries(WRONG)) {
  t.test(`a server that ${what} is not checked`, async (t) => {
    const server = await startTestServer(answer);
    await t.rejects(run(server.target, { timeout: 3000, rate }), { name: 'Unready', message: /every response of/ });
    await server.close();
  });

  t.test(`a server that ${what} after the first requests fails the rules, not the run`, async (t) => {
    const servers = await Promise.all([0, 1].map(() => startTestServer(afterPreflight(answer))));
    const [writable, readable] = servers.map(({ target }) => target);
    const report = await run(writable!, { timeout: 3000, rate });
    const reading = await run({ ...readable!, write: false, repo: 'app' }, { timeout: 3000, rate });
    for (const server of servers) await server.close();
    t.same([report.exit_code, reading.exit_code], [1, 1]);
    const steps = report.setup?.map(({ name }) => name) ?? [];
    t.ok(steps.length > 0 && steps.length < 6, `what cannot be set up is told once: ${steps.join()}`);
    t.match(report.setup?.[0], { reason: String, transcript: [{ request: /./ }], curl: /curl / });
    for (const { notices } of [report, reading]) t.match(notices, [/responses are identical: \d{3}[, ]/]);
    t.match(reading.counts, { error: 0, blocked: 0 });
    t.equal(report.counts.error, 0, 'nothing in the suite broke');
    t.ok(brokenShare(report) >= 0.95, `${Math.round(brokenShare(report) * 100)} % of the MUST rules do not hold`);
    t.equal(report.rules.length, allRules().length, 'every rule has a verdict');
  });
}

t.test('a closed port gives no verdict', async (t) => {
  const server = await startTestServer(always(200, 'text/plain', ''));
  await server.close();
  await t.rejects(run(targetAt(server.baseUrl)), Unready);
});

t.test('a server that never responds gives no verdict', async (t) => {
  const server = await startTestServer((request) => request.resume());
  await t.rejects(run(server.target, { timeout: 300 }), Unready);
  await server.close();
});

t.test('a server that rejects every token gives no verdict', async (t) => {
  const server = await startTestServer(
    always(401, 'application/problem+json', '{"code":"unauthorized","detail":"no"}'),
  );
  await t.rejects(run(server.target), { name: 'Unready', message: /rejects the key given for demo/ });
  await server.close();
});

t.test('a clock that is an hour off gives no verdict', async (t) => {
  const date = new Date(Date.now() - 3_600_000).toUTCString();
  const server = await startTestServer((request, response) => {
    response.setHeader('date', date);
    minimal(request, response);
  });
  await t.rejects(run(server.target), { name: 'Unready', message: /clock/ });
  await server.close();
});

t.test('truncated responses break the rules, and cause no internal error', async (t) => {
  const server = await startTestServer(afterPreflight((request) => request.socket.destroy()));
  const report = await run(reading(server.target), { only: 'other.meta.exists,limit.list.cap' });
  await server.close();
  t.same([report.counts.fail, report.counts.warn, report.counts.error], [1, 1, 0]);
  t.match(report.rules[0], { expected: 'an HTTP response', actual: /^the connection was closed before a response/ });
  t.match(report.rules[0]?.transcript, [{ response: /^\(the connection was closed before a response/ }]);
  t.equal(report.exit_code, 1);
});

t.test('rules on a throttling target are blocked, and the run is incomplete', async (t) => {
  const server = await startTestServer(
    afterPreflight(always(429, 'application/json', '{}', { 'retry-after': '3600' })),
  );
  const report = await run(reading(server.target), { only: 'other.meta.exists' });
  await server.close();
  t.equal(report.counts.blocked, 1);
  t.equal(report.exit_code, 3);
});

t.test('a throttled request is repeated after the delay that the target requests', async (t) => {
  let count = 0;
  const server = await startTestServer((request, response) => {
    count += 1;
    if (count !== 3) return minimal(request, response);
    return always(429, 'application/json', '{}', { 'retry-after': '0' })(request, response);
  });
  const report = await run(reading(server.target), { only: 'other.meta.exists' });
  await server.close();
  t.equal(report.counts.pass, 1);
  t.equal(count, 4);
});

t.test('a rule that fails once and passes when repeated alone is flaky, which does not count as passed', async (t) => {
  let count = 0;
  const server = await startTestServer((request, response) => {
    count += 1;
    if (count === 3) return always(503, 'application/json', '{}')(request, response);
    return minimal(request, response);
  });
  const report = await run(reading(server.target), { only: 'other.meta.exists' });
  await server.close();
  t.equal(report.counts.flaky, 1);
  t.equal(report.exit_code, 1);
});

t.test('an interrupted run still has a report', async (t) => {
  const abort = new AbortController();
  let count = 0;
  const server = await startTestServer((request, response) => {
    count += 1;
    if (count === 3) abort.abort();
    minimal(request, response);
  });
  const report = await run(server.target, { signal: abort.signal, rate });
  await server.close();
  t.equal(report.exit_code, 130);
  t.equal(report.rules.length, allRules().length);
});

t.test('a run that checks nothing does not succeed', async (t) => {
  const server = await startTestServer(minimal);
  const report = await run(server.target, { only: 'event' });
  t.equal(report.counts.skip, report.rules.length);
  t.equal(report.exit_code, 2);
  await t.rejects(run(server.target, { only: 'no.such.rule' }), EmptySelection);
  await server.close();
});

t.test('a target that changes its behaviour within a run fails, even if both behaviours are tolerated', async (t) => {
  let count = 0;
  const asked = new Map<string, number>();
  const server = await startTestServer((request, response) => {
    count += 1;
    if (count <= 2) return minimal(request, response);
    const times = (asked.get(request.url ?? '') ?? 0) + 1;
    asked.set(request.url ?? '', times);
    const [status, code] = times % 2 === 0 ? [403, 'forbidden'] : [401, 'unauthorized'];
    return always(status, 'application/problem+json', JSON.stringify({ code }))(request, response);
  });
  const target = { ...server.target, write: false, repo: 'app' };
  const report = await run(target, { only: 'claim.iss.required,claim.sub.required,claim.scopes.required', rate });
  await server.close();
  t.ok(report.counts.fail >= 1, 'drift fails');
  t.match(report.rules.find(({ verdict }) => verdict === 'fail')?.reason, /must be the same in all responses/);
});

t.test('without --write nothing is written', async (t) => {
  const methods = new Set<string>();
  const server = await startTestServer((request, response) => {
    methods.add(`${request.method} ${request.url?.split('?')[0]}`);
    minimal(request, response);
  });
  const report = await run({ ...server.target, write: false, repo: 'app' }, { rate });
  await server.close();
  const writing = [...methods].filter((one) =>
    /^(PUT|PATCH|DELETE)|commit-pack|restore|reset|notes|POST \/api\/repos$/.test(one),
  );
  t.same(writing, []);
  t.ok(report.counts.skip > 200);
});

t.test('no report contains a secret', async (t) => {
  const server = await startTestServer(minimal);
  const report = JSON.stringify(await run(server.target, { only: 'git,key,jwt,claim', rate }));
  await server.close();
  t.notMatch(report, /eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/, 'no token');
  t.notMatch(report, /PRIVATE KEY/, 'no key');
  t.match(report, /npx conformance token/, 'but the command that makes one');
});

t.test('each of these situations has its own exit code', async (t) => {
  const server = await startTestServer(minimal);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = join(t.testdir(), 'key.pem');
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const common = ['run', '--org', 'demo', '--key', key];
  const pointed = [...common, '--base-url', server.baseUrl];
  const cases: [why: string, code: number, args: string[]][] = [
    ['dead port', 3, [...common, '--base-url', 'http://127.0.0.1:1']],
    ['conformant', 0, [...pointed, '--only', 'other.meta.exists']],
    ['broken', 1, [...pointed, '--repo', 'app', '--only', 'repo.get.route']],
    ['nothing to check it on, for want of leave to write', 2, [...pointed, '--only', 'repo.get.route']],
    ['no such rule', 2, [...pointed, '--only', 'nope']],
    ['no such flag', 2, [...pointed, '--frobnicate']],
    ['no HTTP address', 2, [...common, '--base-url', 'ftp://x']],
    ['no key', 2, ['run', '--base-url', server.baseUrl]],
    ['no such file', 2, ['run', '--base-url', server.baseUrl, '--org', 'demo', '--key', 'none.pem']],
    ['no such rule to explain', 2, ['explain', 'nope']],
  ];
  for (const [why, code, args] of cases) t.equal((await conformance(...args)).code, code, why);
  t.match((await conformance('explain', 'grep.case.false')).out, /case_sensitive false/);
  t.match((await conformance('list', '--only', 'repo.get')).out, /repo\.get\.route/);
  const { out } = await conformance('token', '--org', 'demo', '--key', key, '--repo', 'a/b');
  const claims = decodeJwt(out.trim());
  t.same([claims.iss, claims.repo, claims.scopes], ['demo', 'a/b', ['git:write', 'git:read']]);
  t.equal(Number(claims.exp) - Number(claims.iat), 31_536_000);
  const child = spawn(process.execPath, [join(packageRoot(), 'bin', 'conformance.js'), ...pointed, '--only', 'nope']);
  t.same(await once(child, 'close'), [2, null], 'which is that of the process');
  await server.close();
});
