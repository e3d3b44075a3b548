import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startEmulator } from '../index.js';
import { EMULATOR, ended, spawnCli } from '../test/cli-process.js';
import { createTls } from '../tls/tls-service.js';
import { commands } from './commands.js';
import { run } from './test/run.js';

/**
 * Arguments of each command that sends requests to an emulator. The test runs the commands in this order, `stop` last.
 */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  health: [],
  status: [],
  wait: ['--timeout=5s'],
  env: [],
  ca: [],
  credential: ['get'],
  clock: ['advance', '1s'],
  state: [],
  requests: [],
  repo: ['add', 'team/app'],
  export: ['FOLDER'],
  import: ['FOLDER'],
  snapshot: ['add'],
  verify: [],
  fault: ['add', 'lost*1'],
  latch: ['release', 'door'],
  quota: [],
  namespace: ['ls'],
  scenario: ['ls'],
  reset: [],
  stop: [],
};

/** Runs `emulator <argv>` as a child process. `variables` are additional environment variables. */
async function cli(t: Test, argv: readonly string[], variables: Record<string, string> = {}) {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  const child = spawnCli(t, argv);
  process.env = before;
  const [code] = await ended(child);
  return { code, ...child.said };
}

t.test('every command supports HTTPS with the certificates of either variable', async (t) => {
  const asking = commands.filter(({ flags }) => flags?.url).map(({ name }) => name);
  t.same(asking.toSorted(), Object.keys(WORDS).toSorted());
  for (const name of ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS']) {
    const emulator = await startEmulator({ port: 0, tls: true });
    t.teardown(() => emulator.close({ graceMs: 0 }));
    const folder = t.testdir({ 'ca.pem': emulator.ca! });
    const environment = { [name]: join(folder, 'ca.pem'), EMULATOR_URL: emulator.https!.baseUrl };
    // Run all commands only for SSL_CERT_FILE, and one command for each other variable. All commands share the code
    // that selects the trusted certificates.
    const tried = Object.entries(WORDS).filter(([command]) => name === 'SSL_CERT_FILE' || command === 'stop');
    for (const [command, words] of tried) {
      const argv = words.map((word) => (word === 'FOLDER' ? join(folder, 'state') : word));
      t.match(await run([command, ...argv], environment), { code: 0, err: '' }, command);
    }
    t.equal((await run(['health'], environment)).code, 3, 'it was stopped');
  }
});

t.test('a namespace is reached by the certificate of the emulator', async (t) => {
  await using emulator = await startEmulator({ port: 0, tls: true });
  await using namespace = await emulator.namespace();
  const file = join(t.testdir({ pem: emulator.ca! }), 'pem');
  const { out } = await run(['status', '--json', '--namespace', namespace.id, '--url', emulator.https!.baseUrl], {
    SSL_CERT_FILE: file,
  });
  t.match(JSON.parse(out), { repositories: 0 });
});

t.test('a failed connection is explained in one sentence', async (t) => {
  await using emulator = await startEmulator({ port: 0, tls: true });
  const secure = emulator.https!.baseUrl;
  const { identity, trust } = await createTls(['a.test']);
  const folder = t.testdir({ pem: emulator.ca!, other: trust, cert: identity.cert, key: identity.key });
  const file = join(folder, 'pem');
  const [tlsCert, tlsKey] = [join(folder, 'cert'), join(folder, 'key')];
  await using other = await startEmulator({ port: 0, tls: true, tlsCert, tlsKey });
  const strange = createServer((socket: Socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end('HELLO\r\n'),
  );
  strange.listen(0, '127.0.0.1');
  await once(strange, 'listening');
  t.teardown(() => strange.close());
  const silent = (strange.address() as { port: number }).port;
  const untrusted = /certificate is not trusted; .* `emulator ca --url` .* NODE_EXTRA_CA_CERTS or SSL_CERT_FILE/;
  for (const [url, environment, sentence] of [
    [secure, {}, untrusted],
    [secure, { SSL_CERT_FILE: join(file, '..', 'other') }, untrusted],
    [secure, { SSL_CERT_FILE: '/nowhere' }, untrusted],
    [other.https!.baseUrl, { SSL_CERT_FILE: join(file, '..', 'other') }, /certificate is for other host names/],
    [secure.replace('https', 'http'), {}, /the port serves HTTPS; use an address that begins with https:/],
    [
      emulator.baseUrl.replace('http', 'https'),
      { SSL_CERT_FILE: file },
      /does not serve HTTPS; use an address that begins with http:/,
    ],
    [`http://127.0.0.1:${silent}`, {}, /Parse Error/],
    [`https://127.0.0.1:${silent}`, {}, /the port does not serve HTTPS/],
  ] as const) {
    for (const command of ['status', 'health']) {
      const { code, out, err } = await run([command, '--url', url], environment);
      t.match({ code, out, err }, { code: 3, out: '', err: sentence }, `${command} ${url}`);
      t.match(err, /^No emulator at [^\n]+\.\n$/);
    }
  }
  t.match(await run(['status', '--url', 'ftp://127.0.0.1']), { code: 2, err: /must be an http or https address/ });
});

t.test('commands run by exec reach its emulator by every exported address', async (t) => {
  const say = (url: string) => `${EMULATOR} health --url "${url}"`;
  const credential = `printf 'protocol=https\\nhost=%s\\npath=a.git\\n\\n' "\${EMULATOR_HTTPS_URL#*//}"`;
  const shown = await cli(t, [
    ...['exec', '--log', 'quiet', '--public-url', 'https://api.demo.example.test', '--'],
    ...[
      'sh',
      '-ec',
      `${EMULATOR} status > /dev/null; ${say('$EMULATOR_GIT_URL')}; ${say('$(dirname $EMULATOR_ADMIN_URL)')}`,
    ],
  ]);
  t.match(shown, { code: 0, err: '', out: /^(?:The emulator at http:\/\/127\.0\.0\.1:\d+ is ready\.\n){2}$/ });
  const secure = await cli(t, [
    ...['exec', '--log', 'quiet', '--tls', '--'],
    ...[
      'sh',
      '-ec',
      `${say('$EMULATOR_HTTPS_URL')}; curl -sSf "$EMULATOR_HTTPS_URL/_emulator/health" | grep -c true
       ${credential} | ${EMULATOR} credential get --url "$EMULATOR_HTTPS_URL" | grep -c =`,
    ],
  ]);
  t.match(secure, { code: 0, err: '', out: /^The emulator at https:.* is ready\.\n1\n2\n$/ });
  const hidden = await cli(t, [
    ...['exec', '--log', 'quiet', '--public-url', 'https://api.demo.example.test'],
    ...['--api-host', 'api.demo.example.test', '--', 'sh', '-ec'],
    `${say('https://api.demo.example.test')}; ${say('$EMULATOR_URL')}`,
  ]);
  t.match(hidden, {
    code: 0,
    err: '',
    out: /^The emulator at https:\/\/api.* is ready\.\n.* http:\/\/127.* is ready\.\n$/,
  });
});

t.test('a ready file has the local address, also with --public-url', async (t) => {
  const file = join(t.testdir({}), 'ready.json');
  const child = spawnCli(t, [
    ...['start', '--port=0', '--log=quiet', `--ready-file=${file}`, '--public-url=https://api.demo.example.test'],
  ]);
  t.equal((await run(['wait', '--ready-file', file])).code, 0);
  t.match(JSON.parse(child.said.out), {
    base_url: 'https://api.demo.example.test',
    local_url: /^http:\/\/127\.0\.0\.1:\d+$/,
    orgs: [{ local_url: /^http:/ }],
  });
  t.match(await run(['env', '--ready-file', file]), { code: 0, err: '', out: /EMULATOR_URL=.?http:\/\/127/ });
  writeFileSync(file, '{"base_url":"no address","pid":1}');
  t.equal((await run(['env', '--ready-file', file])).code, 3);
  child.kill('SIGTERM');
  await ended(child);
});
