import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { packageRoot } from '../target/package-root.js';
import { afterPreflight, always, startTestServer } from './test-server.js';

t.setTimeout(180_000);

const script = join(packageRoot(), 'bin', 'conformance.js');
const key = join(packageRoot(), 'fixtures', 'keys', 'es256.pem');

/**
 * Starts `conformance run` as a child process. Sends SIGINT to the process when `isReached` returns true for the path
 * of a request.
 */
async function interrupt(t: Test, answer: RequestListener, isReached: (path: string) => boolean) {
  let child: ReturnType<typeof start> | undefined;
  const take =
    (next: RequestListener): RequestListener =>
    (request, response) => {
      if (isReached(request.url ?? '')) child?.kill('SIGINT');
      next(request, response);
    };
  const silent: RequestListener = (request) => void request.resume();
  const admin = isReached('/_emulator/health') ? silent : always(404, 'text/plain', '');
  const server = await startTestServer(take(answer), take(admin));
  t.teardown(() => server.close());
  child = start(server.baseUrl);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** Starts the command with a timeout of 10 minutes for responses, so that only a signal can end the wait. */
function start(baseUrl: string) {
  const target = ['--base-url', baseUrl, '--org', 'demo', '--key', key, '--no-write', '--repo', 'app'];
  const args = [script, 'run', ...target, '--only', 'other.meta.exists', '--quiet', '--timeout', '600000'];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
}

const hang: RequestListener = (request) => void request.resume();

t.test('SIGINT ends the search for an emulator: exit code 130', async (t) => {
  t.match(await interrupt(t, hang, (path) => path.startsWith('/_emulator/')), { code: 130, err: '' });
});

t.test('SIGINT ends the checks before the rules: exit code 130', async (t) => {
  t.match(await interrupt(t, hang, (path) => path === '/api/repos'), { code: 130, err: '' });
});

t.test('SIGINT ends a rule whose request hangs: exit code 130', async (t) => {
  let count = 0;
  const reached = (path: string) => {
    if (path.startsWith('/api/')) count += 1;
    return count === 3;
  };
  t.match(await interrupt(t, afterPreflight(hang), reached), { code: 130, out: /interrupted/, err: '' });
});
