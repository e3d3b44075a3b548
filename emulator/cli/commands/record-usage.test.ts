import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { EMULATOR, ended, spawnCli } from '../../test/cli-process.js';
import { run } from '../test/run.js';

// needs: curl

const NODE = process.execPath;

async function record(t: Test, argv: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawnCli(t, ['record', ...argv], { env });
  const [code, signal] = await ended(child);
  return { code, signal, ...child.said };
}

/** Starts a server that responds to all requests, as the deployment. Returns its URL. */
async function deploy(t: Test): Promise<string> {
  const server = createServer((_, response) => response.end('{}'));
  t.teardown(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const entriesOf = (file: string) => JSON.parse(readFileSync(file, 'utf8')).log.entries;

t.test('an invalid command line results in exit code 2 and one sentence, and nothing is run', async (t) => {
  const folder = t.testdir({ 'a.har': '' });
  const ran = join(folder, 'ran');
  const out = ['--out', join(folder, 'b.har')];
  const api = ['--api-url', 'http://127.0.0.1:1'];
  const command = ['--', 'touch', ran];
  const rows: readonly (readonly [argv: readonly string[], says: RegExp])[] = [
    [[], /^record needs --api-url URL\.\n$/],
    [[...out, ...command], /^record needs --api-url URL\.\n$/],
    [[...api, ...command], /^record needs --out FILE\.\n$/],
    [[...api, ...out], /^record needs a command after --, as in `emulator record [^`]+`\.\n$/],
    [[...api, ...out, '--'], /^record needs a command after --/],
    [[...api, ...out, 'touch', ran], /^record takes only flags, not the argument "touch"; put "--" before the command/],
    [[...api, ...out, '--port', '1', ...command], /^record has no flag --port\. `emulator record --help` lists all/],
    [[...api, ...out, '--keep-git-bodies=1', ...command], /^--keep-git-bodies takes no value\.\n$/],
    [[...api, ...out, '--max-body', 'much', ...command], /^--max-body must be a size such as .*, not "much"\.\n$/],
    [[...api, ...out, '--max-body', ...command], /^--max-body needs a value\.\n$/],
    [[...api, ...api, ...out, ...command], /^--api-url was given more than once/],
    [
      ['--api-url', 'example.com', ...out, ...command],
      /^--api-url must be an http or https URL .*, not "example\.com"/,
    ],
    [['--api-url', 'ftp://example.com', ...out, ...command], /^--api-url must be an http or https URL/],
    [['--api-url', 'https://a.example/api/v1', ...out, ...command], /must have no path, such as https:\/\/a\.example,/],
    [
      [...api, '--git-url', 'https://t:canary@a.example', ...out, ...command],
      /^--git-url must not contain a user name or/,
    ],
    [
      [...api, '--git-url', 'ftp://t:canary@a.example', ...out, ...command],
      /^--git-url must not contain a user name or/,
    ],
    [[...api, '--api-host', 'http://x', ...out, ...command], /^--api-host must be the name of a host/],
    [
      [...api, '--out', join(folder, 'a.har'), ...command],
      /^--out: .*a\.har exists already\. Remove it, or choose another/,
    ],
    [[...api, '--out', folder, ...command], /^--out: .* exists already/],
    [
      [...api, '--out', join(folder, 'absent', 'b.har'), ...command],
      /^--out: .*b\.har cannot be written: no such file/,
    ],
    [[...api, '--out', '', ...command], /^--out must be the name of a file, not ""\.\n$/],
  ];
  for (const [argv, says] of rows) {
    const { code, out: printed, err } = await run(['record', ...argv]);
    t.match({ code, printed }, { code: 2, printed: '' }, argv.join(' '));
    t.match(err, says);
    t.match(err, /^[^\n]+\n$/);
    t.notMatch(err, 'canary');
  }
  t.notOk(existsSync(ran));
  t.same(readdirSync(folder).sort(), ['a.har'], 'no temporary file is left');
});

t.test('the exit code is that of the command, and the recording is written in any case', async (t) => {
  const url = await deploy(t);
  const folder = t.testdir({});
  const ask = `fetch(process.env.EMULATOR_URL + '/api/v1/repo').then((r) => r.text())`;
  const rows = [
    ['fails', [NODE, '-e', `${ask}.then(() => process.exit(7))`], 7, 1],
    ['killed', [NODE, '-e', `${ask}.then(() => process.kill(process.pid, 'SIGKILL'))`], 137, 1],
    ['absent', ['nonesuch-program'], 127, 0],
    ['none', ['true'], 0, 0],
  ] as const;
  for (const [name, command, expected, count] of rows) {
    const file = join(folder, name);
    const { code, err } = await record(t, ['--api-url', url, '--out', file, '--', ...command]);
    t.equal(code, expected, err);
    t.equal(entriesOf(file).length, count);
    t.match(
      err,
      count === 0 ? /contains no exchange, because the command sent no request/ : /^Recorded 1 exchange in /,
    );
  }
  t.same(readdirSync(folder).sort(), rows.map(([name]) => name).sort());
});

t.test('a signal is forwarded to the command, and the recording is written', async (t) => {
  const url = await deploy(t);
  const file = join(t.testdir({}), 'a.har');
  const script = `
    process.on('SIGTERM', () => process.exit(9));
    setInterval(() => {}, 1000);
    fetch(process.env.EMULATOR_URL + '/api/v1/repo').then((r) => r.text()).then(() => console.log('ready'));`;
  const child = spawnCli(t, ['record', '--api-url', url, '--out', file, '--', NODE, '-e', script]);
  await once(child.stdout!, 'data');
  child.kill('SIGTERM');
  t.same(await ended(child), [9, null]);
  t.equal(entriesOf(file).length, 1);
});

t.test('a folder that becomes unwritable is an error, and the command has run', async (t) => {
  const url = await deploy(t);
  const folder = t.testdir({ place: {} });
  const place = join(folder, 'place');
  const file = join(place, 'a.har');
  // The command replaces the folder, so that the complete file cannot get its name.
  const { code, err } = await record(t, ['--api-url', url, '--out', file, '--', 'sh', '-c', `rm -r '${place}'`]);
  t.equal(code, 2);
  t.match(err, /^--out: .* cannot be written: no such file or directory\.\n$/);
});

t.test('the command gets the addresses of the proxy, and the other variables of its environment', async (t) => {
  const url = await deploy(t);
  const file = join(t.testdir({}), 'a.har');
  const script = `
    const { EMULATOR_URL, EMULATOR_GIT_URL, EMULATOR_HTTPS_URL, EMULATOR_TOKEN } = process.env;
    (async () => {
      const status = [];
      for (const url of [EMULATOR_URL, EMULATOR_GIT_URL, EMULATOR_HTTPS_URL]) status.push((await fetch(url + '/api/v1/repo')).status);
      console.log(status.join(), EMULATOR_TOKEN);
    })();`;
  const { code, out, err } = await record(t, ['--api-url', url, '--out', file, '--', NODE, '-e', script], {
    EMULATOR_TOKEN: 'mine',
  });
  t.same([code, out], [0, '200,200,200 mine\n'], err);
  t.equal(entriesOf(file).length, 3);
});

t.test('a deployment with HTTPS is reached if its certificate is trusted', async (t) => {
  const folder = t.testdir({});
  const [trusted, untrusted] = [join(folder, 'a.har'), join(folder, 'b.har')];
  const ask = `"$EMULATOR_HTTPS_URL/api/v1/repo" -H "Authorization: Bearer $EMULATOR_TOKEN"`;
  const script = `
    ${EMULATOR} record --api-url "$EMULATOR_HTTPS_URL" --out '${trusted}' -- sh -c 'curl -sS -w "%{http_code}\n" -o /dev/null ${ask}'
    unset SSL_CERT_FILE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
    ${EMULATOR} record --api-url "$EMULATOR_HTTPS_URL" --out '${untrusted}' -- sh -c 'curl -sS ${ask}'`;
  const child = spawnCli(t, ['exec', '--log', 'quiet', '--tls', '--', 'sh', '-ec', script], { env: { NO_PROXY: '*' } });
  t.same(await ended(child), [0, null], child.said.err);
  t.match(child.said.out, /^404\nThe recording proxy cannot reach https:\/\/127\.0\.0\.1:\d+: .*certificate.*\.\n$/);
  t.match(entriesOf(trusted), [{ response: { status: 404 } }]);
  t.match(entriesOf(untrusted), [{ response: { status: 0, _error: /certificate/ }, _emulator: { unreached: true } }]);
});

t.test('help lists the flags', async (t) => {
  const { code, out } = await run(['record', '--help']);
  t.equal(code, 0);
  for (const flag of [
    '--api-url',
    '--git-url',
    '--out',
    '--max-body',
    '--keep-git-bodies',
    '--api-host',
    '--git-host',
  ]) {
    t.match(out, flag);
  }
});
