import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { run } from '../index.js';
import { REPORTERS, reporterOf } from '../report/reporters.js';
import { packageRoot } from '../run/version.js';
import { startProxy } from './mutants/proxy.js';
import { startNamespace } from './shared-emulator.js';
import { startTestServer } from './test-server.js';

t.setTimeout(180_000);

const target = await startNamespace(t);
const proxy = await startProxy(target, {
  response: (response) => {
    if (response.status === 401 || response.status === 403) response.status = 418;
  },
});
t.teardown(() => proxy[Symbol.asyncDispose]());
const only =
  'jwt.alg.none,grep.route,grep.err.401,grep.err.403.invalid-jwt,repo.get.route,git.challenge.401,git.invalid-token';
const report = await run(proxy.target, { only, flags: ['--org', 'demo'] });
const broken = report.rules.filter(({ verdict }) => verdict === 'fail');

t.test('a failure shows the expected value, the response, and the nearest request that passed', async (t) => {
  t.ok(broken.length >= 5, broken.map(({ id }) => id).join());
  const failed = broken.find(({ id }) => id === 'jwt.alg.none');
  t.match(failed, {
    expected: ['403 forbidden', '401 unauthorized'],
    actual: /^418/,
    nearest: { request: /^\w+ \/api\/v1\/repo/, status: 200 },
    recipe: { defect: 'unsigned' },
  });
  t.ok(failed?.nearest?.differs.includes('token defect: "unsigned", there none'), String(failed?.nearest?.differs));
  for (const name of REPORTERS.filter((one) => one !== 'json')) {
    const text = reporterOf(name, false)(report).replaceAll('&quot;', '"').replaceAll('\\"', '"');
    t.match(text.replaceAll('%2C', ','), 'token defect: "unsigned", there none', name);
  }
});

const isThere = spawnSync('curl', ['--version']).status === 0;
const skip = isThere ? false : 'curl is not installed';

t.test('the printed commands repeat the failure in a shell', { skip }, async (t) => {
  const folder = t.testdir({});
  const npx = join(folder, 'npx');
  const cli = `'${process.execPath}' '${join(packageRoot(), 'bin', 'conformance.js')}'`;
  writeFileSync(npx, `#!/bin/sh\nshift\nexec ${cli} "$@"\n`);
  chmodSync(npx, 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const printed = reporterOf('pretty', false)(report);
  const lines = [...printed.matchAll(/^ {2}\$ ((?:printf|curl) .*)$/gm)].map(([, line = '']) => line);
  t.equal(lines.length, broken.length);
  t.ok(lines.some((line) => line.includes('-u "t:$(npx conformance token')));
  for (const line of lines) {
    t.notMatch(line, /eyJ[A-Za-z0-9_-]{8,}/, 'no secret');
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env });
    t.match(stdout, /^HTTP\/1\.1 418 /, line);
  }
});

t.test('no report contains a secret, even if the target repeats requests in its responses', async (t) => {
  const echo = await startTestServer((request, response) => {
    const sent = request.headers.authorization ?? 'none';
    const token = sent.startsWith('Basic ') ? Buffer.from(sent.slice(6), 'base64').toString() : sent;
    const answer = { error: sent, detail: token, code: token, [token]: [token], nested: { at: `x${token}y` } };
    response.writeHead(request.method === 'POST' ? 201 : 200, {
      'content-type': 'application/problem+json',
      'x-echo': sent,
      'set-cookie': 'canary-cookie',
    });
    response.end(request.url === '/api/meta' ? '{}' : JSON.stringify(answer));
  });
  t.teardown(() => echo.close());
  const target = { ...echo.target, baseUrl: echo.baseUrl.replace('://', '://canary-user:canary-password@') };
  for (const given of [echo.target, target]) {
    const report = await run(given, { timeout: 5000, only: 'jwt,claim,git,key,authfail,repo,problem' }).catch(
      (error: Error) => error,
    );
    if (report instanceof Error) {
      t.notMatch(report.message, /canary|eyJ/, report.message);
      continue;
    }
    t.match(JSON.stringify(report), '<token>', 'there was something to take out');
    for (const name of REPORTERS) {
      const text = reporterOf(name, false)(report);
      t.notMatch(text, /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/, `${name}: no token`);
      t.notMatch(text, /canary/, `${name}: no credentials`);
      const coded = (text.match(/[A-Za-z0-9+/]{80,}/g) ?? []).map((one) =>
        Buffer.from(one, 'base64').toString('latin1'),
      );
      t.same(
        coded.filter((one) => /eyJ|canary/.test(one)),
        [],
        `${name}: nor in another coding`,
      );
    }
  }
});
