import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import t, { type Test } from 'tap';
import { defaultFixtureKey, fixtureKeys } from '../../auth/fixture-keys.js';
import type { GivenOptions } from '../../config/options.js';
import { startEmulator } from '../../index.js';
import { ENV_FORMATS, type EnvFormat } from '../env-formats.js';
import { readyLine } from '../ready.js';
import { run } from '../test/run.js';

const HOSTILE = [
  '',
  'plain-value.1_x',
  "it's",
  "'",
  "''",
  '"',
  'a "b" c',
  `both ' and "`,
  `$HOME $\{HOME} $(touch hostile) \`touch hostile\``,
  "$(touch hostile)'$(touch hostile)'",
  '\\',
  'C:\\new\\table\\',
  "\\'",
  'a\nb',
  '\n',
  'trailing \n\n',
  ' spaces ',
  '#x # y',
  'a=b',
  'a\tb',
  '!x !!',
  '~',
  '*',
  'END_OF_VALUE',
  'x\nEND_OF_VALUE\nNAME=hostile',
  'a\nGITHUB_ENV<<EOF',
  'é ‘ ’ ‚ ‛ “ ” 😀',
  "’; Remove-Item '",
  '-n',
  '%PATH%',
  'x;y&z|w>v',
];

/**
 * Programs that read each output format of `emulator env`. For `sh`, these are several shells. A reader returns the
 * name and the value that the program finds in one line.
 */
const READERS: Readonly<Record<Exclude<EnvFormat, 'json'>, readonly ((text: string) => [string, string])[]>> = {
  sh: ['sh', 'bash', 'dash'].map((shell) => (text: string) => {
    const out = execFileSync(shell, ['-c', 'eval "$1"; env -0', '-', text.trimEnd()], {
      encoding: 'utf8',
      cwd: folder,
    });
    const exported = out.split('\0').find((row) => row.startsWith('VALUE='));
    return ['VALUE', exported?.slice('VALUE='.length) ?? 'nothing'];
  }),
  fish: [
    (text) => {
      const [, name, quoted] = /^set -gx (\w+) '((?:[^'\\]|\\['\\])*)'\n$/.exec(text)!;
      return [name!, quoted!.replace(/\\(['\\])/g, '$1')];
    },
  ],
  pwsh: [
    (text) => {
      const [, name, expression] = /^\$env:(\w+) = (.*)\n$/.exec(text)!;
      const operand = String.raw`'(?:[^'‘’‚‛]|['‘’‚‛]{2})*'|\[char\]\d+`;
      const whole = new RegExp(String.raw`^(?:${operand}|\((?:${operand})(?: \+ (?:${operand}))*\))$`, 'u');
      if (!whole.test(expression!)) throw new Error(`${expression} is no expression`);
      const parts = expression!.matchAll(new RegExp(operand, 'gu'));
      const values = Array.from(parts, ([part]) =>
        part.startsWith('[')
          ? String.fromCharCode(Number(part.slice('[char]'.length)))
          : part.slice(1, -1).replace(/(['‘’‚‛])['‘’‚‛]/gu, '$1'),
      );
      return [name!, values.join('')];
    },
  ],
  dotenv: [(text) => Object.entries(parseEnv(text))[0] as [string, string], readAsDotenvPackage],
  github: [
    (text) => {
      // Parse the value like the GitHub Actions runner, which reads up to the first line that equals the delimiter.
      const rows = text.split('\n');
      const [, name, delimiter] = /^(\w+)<<(.+)$/.exec(rows[0]!)!;
      const end = rows.indexOf(delimiter!, 1);
      if (rows.slice(end + 1).join('\n') !== '') throw new Error('something follows');
      return [name!, rows.slice(1, end).join('\n')];
    },
  ],
};

/** Parses one line of a .env file with the regular expression from the npm package dotenv 17. */
function readAsDotenvPackage(text: string): [string, string] {
  const line =
    /(?:^|^)\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?(?:$|$)/gm;
  const [, name, given = ''] = line.exec(text.replace(/\r\n?/g, '\n'))!;
  const value = given.trim();
  const bare = value.replace(/^(['"`])([\s\S]*)\1$/, '$2');
  return [name!, value.startsWith('"') ? bare.replace(/\\n/g, '\n').replace(/\\r/g, '\r') : bare];
}

const folder = t.testdir({});

t.test('every value survives every format unchanged', async (t) => {
  for (const [format, readers] of Object.entries(READERS)) {
    for (const value of HOSTILE) {
      let text: string;
      try {
        text = ENV_FORMATS[format as EnvFormat].write([['VALUE', value]]);
      } catch (error) {
        t.match(
          error,
          { name: 'UsageError', message: /^The value of VALUE cannot be quoted in a \.env file/ },
          JSON.stringify(value),
        );
        t.ok(format === 'dotenv' && /['\\]/.test(value), 'only what has several kinds of quotes');
        continue;
      }
      for (const read of readers) t.same(read(text), ['VALUE', value], `${format}: ${JSON.stringify(value)}`);
    }
  }
  for (const value of HOSTILE) t.same(JSON.parse(ENV_FORMATS.json.write([['VALUE', value]])), { VALUE: value });
  t.throws(() => execFileSync('ls', [join(folder, 'hostile')], { stdio: 'ignore' }), 'nothing of a value was run');
});

t.test('each variable has its own line', async (t) => {
  const text = ENV_FORMATS.sh.write([
    ['A', '1'],
    ['B', '2'],
  ]);
  t.equal(text, "export A='1'\nexport B='2'\n");
});

async function start(t: Test, options: GivenOptions = {}) {
  const emulator = await startEmulator({ port: 0, ...options });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  const file = join(mkdtempSync(join(folder, 'ready-')), 'ready.json');
  writeFileSync(file, readyLine(emulator, process.pid));
  return { emulator, file };
}

/** Runs `emulator env --json`. Returns the printed environment variables by name. */
async function wiring(argv: readonly string[], environment: Record<string, string> = {}) {
  const { code, out, err } = await run(['env', '--json', ...argv], environment);
  return { code, err, found: (out === '' ? {} : JSON.parse(out)) as Record<string, string> };
}

async function statusOf(url: string, method: string, token: string): Promise<number> {
  return (await fetch(`${url}/api/repos`, { method, headers: { authorization: `Bearer ${token}` } })).status;
}

t.test('the variables are found by address, by variable, and by ready file', async (t) => {
  const { emulator, file } = await start(t, { org: ['one', 'two'], clock: '2030-01-01T00:00:00Z' });
  const { baseUrl } = emulator;
  for (const given of [
    wiring(['--url', `${baseUrl}/`]),
    wiring([], { EMULATOR_URL: baseUrl }),
    wiring(['--ready-file', file], { EMULATOR_URL: 'http://127.0.0.1:9' }),
  ]) {
    const { code, err, found } = await given;
    const { EMULATOR_TOKEN: token, ...others } = found;
    t.same([code, err], [0, '']);
    t.same(others, {
      EMULATOR_URL: baseUrl,
      EMULATOR_GIT_URL: baseUrl,
      EMULATOR_ORG_NAME: 'one',
      EMULATOR_KEY_FILE: defaultFixtureKey().privateKeyFile,
      EMULATOR_ADMIN_URL: emulator.adminUrl,
    });
    const scopes = ['repo:write', 'git:write', 'git:read', 'org:read'];
    const iat = Date.parse('2030-01-01T00:00:00Z') / 1000;
    t.match(decodeJwt(token!), { iss: 'one', repo: 'team/app', scopes, iat, exp: iat + 31_536_000 });
    t.equal(await statusOf(baseUrl, 'GET', token!), 200);
    await emulator.reset();
    t.equal(await statusOf(baseUrl, 'POST', token!), 201);
    await emulator.reset();
  }
  const { found: second } = await wiring(['--url', emulator.orgs[1]!.baseUrl, '--repo', 'x', '--scopes', 'git:read']);
  t.match(second, { EMULATOR_URL: emulator.orgs[1]!.baseUrl, EMULATOR_ORG_NAME: 'two' });
  t.match(decodeJwt(second.EMULATOR_TOKEN!), { iss: 'two', repo: 'x', scopes: ['git:read'] });
  t.equal(decodeProtectedHeader(second.EMULATOR_TOKEN!).kid, 'second');
});

t.test('every format is printed, and the emulator is not changed', async (t) => {
  const { emulator } = await start(t, { clock: '2030-01-01T00:00:00Z' });
  for (const [format, readers] of Object.entries(READERS)) {
    const { code, out } = await run(['env', '--format', format, '--url', emulator.baseUrl]);
    t.equal(code, 0);
    const rows = format === 'github' ? out.split(/(?<=\nEND_OF_VALUE\n)/) : out.split(/(?<=\n)/);
    t.same(rows.map((row) => readers[0]!(row.replace('EMULATOR_URL', 'VALUE'))).length, 6);
  }
  t.same(emulator.requests(), []);
  t.equal(emulator.clock.now(), Date.parse('2030-01-01T00:00:00Z'));
});

t.test('a key file path with shell characters is quoted correctly', async (t) => {
  const { emulator } = await start(t);
  const place = join(t.testdir({}), `a 'b" $(touch x)\n\`c`);
  mkdirSync(place);
  const keyFile = join(place, 'key.pem');
  copyFileSync(emulator.keyFile, keyFile);
  const file = join(place, 'ready.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readyLine(emulator, process.pid)), key_file: keyFile }));
  const { code, out } = await run(['env', '--ready-file', file]);
  t.equal(code, 0);
  const script = 'eval "$1"; cat "$EMULATOR_KEY_FILE"';
  t.equal(execFileSync('sh', ['-c', script, '-', out], { encoding: 'utf8' }), readFileSync(keyFile, 'utf8'));
  t.match(await run(['env', '--format', 'dotenv', '--ready-file', file]), {
    code: 2,
    out: '',
    err: /^The value of EMULATOR_KEY_FILE cannot be quoted in a \.env file\.[^\n]+\.\n$/,
  });
});

t.test('the key file is that of the first registered key whose private key is known', async (t) => {
  const { emulator, file } = await start(t);
  const admin = { method: 'DELETE', headers: { 'content-type': 'application/json' } };
  for (const id of ['es256', 'es384', 'es512', 'rs256']) await fetch(`${emulator.adminUrl}/keys/${id}`, admin);
  const { found } = await wiring(['--ready-file', file]);
  const restricted = fixtureKeys().find(({ id }) => id === 'restricted')!;
  t.equal(found.EMULATOR_KEY_FILE, restricted.privateKeyFile);
  const { scopes, iat, exp } = decodeJwt(found.EMULATOR_TOKEN!);
  t.same([scopes, exp! - iat!], [['git:read', 'org:read'], 3600]);

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = join(t.testdir({}), 'own.pem');
  writeFileSync(pem, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const own = await start(t, { testKeys: false, key: [`${pem}:mine;allowed_scopes=git:read+org:read`] });
  const byFile = await wiring(['--ready-file', own.file]);
  t.equal(byFile.found.EMULATOR_KEY_FILE, pem);
  t.equal(decodeProtectedHeader(byFile.found.EMULATOR_TOKEN!).kid, 'mine');
  t.equal(await statusOf(own.emulator.baseUrl, 'GET', byFile.found.EMULATOR_TOKEN!), 200);
  const byUrl = await wiring(['--url', own.emulator.baseUrl]);
  t.match(byUrl, { code: 0, err: /^EMULATOR_TOKEN is empty: [^\n]+\.\n$/ });
  t.match(byUrl.found, { EMULATOR_KEY_FILE: '', EMULATOR_TOKEN: '', EMULATOR_ORG_NAME: 'demo' });
});

t.test('env needs the admin token if the admin routes require one', async (t) => {
  const { emulator } = await start(t, { adminToken: 'secret' });
  const { baseUrl: url } = emulator;
  t.match(await wiring(['--url', url]), { code: 2, err: /--admin-token or EMULATOR_ADMIN_TOKEN/ });
  t.match(await wiring(['--url', url, '--admin-token', 'secret']), { code: 0, err: '' });
  t.match(await wiring(['--url', url], { EMULATOR_ADMIN_TOKEN: 'secret' }), { code: 0, err: '' });
  const made = await start(t, { host: '0.0.0.0', testKeys: true });
  t.match(await wiring(['--ready-file', made.file]), { code: 0, err: '' }, 'the ready file says where it is');
});

t.test('without an emulator, env exits with 3 and prints nothing', async (t) => {
  const { emulator, file } = await start(t);
  await emulator.close();
  const stranger = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"status":"ready"}');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.teardown(() => stranger.close());
  const odd = join(t.testdir({}), 'odd.json');
  writeFileSync(odd, '{"base_url":"ftp://x","pid":1}');
  for (const argv of [
    ['--url', emulator.baseUrl],
    ['--ready-file', file],
    ['--ready-file', join(file, 'absent')],
    ['--ready-file', odd],
    ['--url', `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`],
  ]) {
    const { code, out, err } = await run(['env', ...argv]);
    t.same([code, out], [3, ''], argv.join(' '));
    t.match(err, /^No emulator(:| at) [^\n]+\.\n$/);
  }
  t.match(await run(['env', '--format', 'csh']), { code: 2, out: '', err: /^--format must be one of sh, fish/ });
});
