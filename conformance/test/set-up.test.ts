import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import t from 'tap';
import { run, startTargetEmulator, type Target } from '../index.js';
import { startNamespace } from './shared-emulator.js';
import { startTestServer } from './test-server.js';

t.setTimeout(180_000);
const emulator = await startNamespace(t);

type Change = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Starts a proxy in front of the emulator, and calls `change` with each request. `change` returns true if it sent the
 * response itself. If it only sets the response's status, this status replaces the emulator's status 201.
 */
async function startBefore(change: Change) {
  const server = await startTestServer((request, response) => {
    response.statusCode = 0;
    if (change(request, response)) return;
    const instead = response.statusCode;
    const { method, headers, url = '' } = request;
    const onward = send(emulator.baseUrl + url, { method: method ?? 'GET', headers }, (answer) => {
      const { statusCode = 500 } = answer;
      response.writeHead(statusCode === 201 && instead !== 0 ? instead : statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  const { adminUrl: _adminUrl, adminToken: _adminToken, ...rest } = emulator;
  const target: Target = { ...rest, baseUrl: server.baseUrl, gitUrl: server.baseUrl };
  return { target, close: () => server.close() };
}

const isPack = ({ url = '' }: IncomingMessage) => url.endsWith('/commit-pack');
const rate = Number.POSITIVE_INFINITY;
const width = 8;

t.test('a wrong success status breaks only the rule about it, and does not block other rules', async (t) => {
  const { target, close } = await startBefore((request, response) => {
    if (isPack(request)) response.statusCode = 200;
    return false;
  });
  t.teardown(close);
  const report = await run(target, { rate, width });
  t.same(report.setup, []);
  t.equal(report.exit_code, 1);
  const broken = report.rules.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
  t.ok(broken.includes('pack.route'));
  t.ok(broken.length < 25, `${broken.length} rules are about it: ${broken.join()}`);
});

t.test('a failed fixture is reported once, and the rules that need it are blocked', async (t) => {
  const { target, close } = await startBefore((request, response) => {
    if (!isPack(request)) return false;
    request.resume();
    response.writeHead(500, { 'content-type': 'text/plain' }).end('oops');
    return true;
  });
  t.teardown(close);
  const report = await run(target, { rate, width });
  t.equal(report.exit_code, 1);
  t.equal(report.counts.error, 0);
  const steps = report.setup ?? [];
  t.same(steps.map(({ name }) => name).sort(), [
    'a first commit',
    'ephemeral',
    'large',
    'other default',
    'patterns',
    'requests that write',
  ]);
  t.match(steps[0], {
    verdict: 'fail',
    reason: 'the request must succeed',
    expected: '2xx',
    actual: '500',
    transcript: [{ request: /^POST .*commit-pack/, response: /^500/ }],
    curl: /commit-pack/,
  });
  const reasons = report.rules.flatMap(({ verdict, reason }) => (verdict === 'blocked' ? [reason] : []));
  t.ok(reasons.length > 200);
  t.same([...new Set(reasons)].sort(), [
    'needs the fixture "a first commit", which could not be created',
    'needs the fixture "ephemeral", which could not be created',
    'needs the fixture "large", which could not be created',
    'needs the fixture "other default", which could not be created',
    'needs the fixture "patterns", which could not be created',
    'needs the fixture "requests that write", which could not be created',
  ]);
  const failed = report.rules.filter(({ verdict }) => verdict === 'fail');
  t.ok(failed.length < 25, failed.map(({ id }) => id).join());
  t.ok(report.counts.pass > 50, 'what does not rest on it is checked');
});

t.test('a fixture that fails once is created again for later rules', async (t) => {
  let count = 0;
  const { target, close } = await startBefore((request) => {
    if (!isPack(request)) return false;
    count += 1;
    if (count === 1) request.socket.destroy();
    return count === 1;
  });
  t.teardown(close);
  const only = 'grep.case.*,pack.file.*';
  const report = await run(target, { rate, width: 1, only });
  t.match(report.setup, [{ name: 'a first commit', actual: /^the connection was closed/ }]);
  t.equal(report.exit_code, 1);
});

t.test('a throttled fixture is created again', async (t) => {
  let isThrottling = true;
  const { target, close } = await startBefore((request, response) => {
    if (!isThrottling || !isPack(request)) return false;
    isThrottling = false;
    request.resume();
    response.writeHead(429, { 'retry-after': '3600' }).end();
    return true;
  });
  t.teardown(close);
  const only = 'claim.sub.required,claim.iss.required,claim.scopes.required';
  const report = await run(target, { rate, width: 1, only });
  const verdicts = report.rules.map(({ verdict }) => verdict);
  t.equal(verdicts.filter((verdict) => verdict === 'blocked').length, 1, 'the first rule that asked');
  t.equal(verdicts.filter((verdict) => verdict === 'pass').length, 2, 'and the others have it');
  t.same([report.setup, report.exit_code], [[], 3]);
  t.same(report.cleanup?.left, []);
});

t.test('an emulator that exits ends the run: exit 3', async (t) => {
  const dying = await startTargetEmulator();
  t.teardown(() => dying.close());
  let results = 0;
  const report = await run(dying.target, {
    onResult: () => {
      results += 1;
      if (results === 50) void dying.close();
    },
  });
  t.equal(report.exit_code, 3);
  t.match(report.ended, { by: 'target', reason: /no longer accepts connections/ });
  t.match(report.counts, { fail: 0, error: 0 });
  t.match(report.cleanup?.reason, /no longer accepts connections/);
  t.ok((report.cleanup?.left.length ?? 0) > 0, 'it lists what it could not remove');
});

t.test('all concurrent rules wait for a throttling emulator together', async (t) => {
  const throttling = await startNamespace(t);
  const gateway = { by: ['org'], capacity: 20, refill: '50/s', cost: { '*': 1 } };
  const quotas = {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ quotas: { gateway } }),
  };
  t.equal((await fetch(`${throttling.adminUrl}/quotas`, quotas)).status, 200);
  const waits: number[] = [];
  const report = await run(throttling, {
    only: 'scope.matrix,claim,grep.case,grep.route',
    timeout: 1000,
    onProgress: ({ waitingSeconds }) => void waits.push(waitingSeconds),
  });
  t.equal(report.exit_code, 0);
  t.match(report.counts, { fail: 0, error: 0, blocked: 0 });
  t.ok((report.throttled_seconds ?? 0) > 0);
  t.ok(
    waits.some((seconds) => seconds > 0),
    'which the progress shows',
  );
});

t.test('the time that a rule waits for a slot does not count towards its limit', async (t) => {
  const report = await run(emulator, { only: 'grep.case', rate: 4, timeout: 200 });
  t.equal(report.exit_code, 0, 'although the run takes longer than a rule may');
});
