import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { stringify } from 'yaml';
import { packageRoot } from '../run/version.js';
import { readKeyEntry, readSecret } from './secrets.js';
import { InvalidTargetFile, parseTargetFile, readTargetFile, targetFileSchema } from './target-file.js';

const LEAST = { base_url: 'https://api.example.com', org: 'acme', keys: { main: { file: 'acme.pem' } } };
const pem = readFileSync(join(packageRoot(), 'fixtures', 'keys', 'es256.pem'), 'utf8');

function fileWith(t: Test, text: string): string {
  const path = join(t.testdir({}), 'target.yaml');
  writeFileSync(path, text);
  return path;
}

t.test('a target file is YAML or JSON, and relative file names are resolved from its folder', async (t) => {
  const all = {
    ...LEAST,
    keys: {
      main: { file: 'acme.pem', id: 'k1' },
      restricted: { env: 'RESTRICTED', scopes: ['git:read'] },
      deleted: { file: '/keys/deleted.pem' },
      others: [{ file: '../rsa.pem' }, { env: 'OTHER' }],
    },
    second: { org: 'other', key: { file: 'other.pem' }, base_url: 'http://127.0.0.1:1' },
    admin: { url: 'http://127.0.0.1:1/_emulator', token: { file: 'token' } },
    rate: 'unlimited',
    git_client: 'both',
    variants: { 'A01 grep': '403' },
  };
  for (const text of [stringify(all), JSON.stringify(all), `\uFEFF${JSON.stringify(all)}`]) {
    const path = fileWith(t, text);
    const folder = join(path, '..');
    t.match(await readTargetFile(path), {
      ...all,
      keys: {
        main: { file: join(folder, 'acme.pem'), id: 'k1' },
        restricted: { env: 'RESTRICTED' },
        deleted: { file: '/keys/deleted.pem' },
        others: [{ file: join(folder, '..', 'rsa.pem') }, { env: 'OTHER' }],
      },
      second: { key: { file: join(folder, 'other.pem') } },
      admin: { token: { file: join(folder, 'token') } },
    });
  }
});

const MANY_KEYS = Array.from({ length: 60_000 }, (_none, at) => `key${at}: ${at}\n`).join('');

/**
 * Invalid target files, each with the error message that the parser must throw. A target file describes the service
 * under test.
 */
const WRONG: readonly (readonly [text: string, says: RegExp])[] = [
  ['', / is empty$/],
  ['# nothing', / is empty$/],
  ['[]', /the document must be an object with members$/],
  ['text', /the document must be an object with members$/],
  ['{"a": ', / is neither YAML nor JSON: /],
  ['a: 1\na: 2', /neither YAML nor JSON: Map keys must be unique/],
  ['a: *b', /neither YAML nor JSON: Unresolved alias/],
  [
    '--- 1\n--- 2',
    /neither YAML nor JSON: Only one YAML document is allowed, but a second one begins at line 2, column 1$/,
  ],
  ['a: &a [*a]', /neither YAML nor JSON: The alias a refers to the map or list that contains it/],
  ['['.repeat(100_000), /neither YAML nor JSON: The document is nested deeper than 200 levels/],
  [`[${','.repeat(100_000)}`, /neither YAML nor JSON: Unexpected , in flow sequence at line 1, column 3$/],
  [`a: &a 1\nb: [${'*a, '.repeat(101)}]`, /neither YAML nor JSON: The document has more than 100 aliases/],
  [`${MANY_KEYS}key0: 1`, /neither YAML nor JSON: Map keys must be unique at line 60001, column 1$/],
  [stringify({ ...LEAST, base_url: undefined }), / lacks base_url$/],
  [stringify({ ...LEAST, base_url: 'api.example.com' }), /base_url must be an http or https address$/],
  [stringify({ ...LEAST, base_url: 'file:///etc' }), /base_url must be an http or https address$/],
  [stringify({ ...LEAST, git_url: 5 }), /git_url must be/],
  [stringify({ ...LEAST, org: 5 }), /org must be a text$/],
  [stringify({ ...LEAST, org: '' }), /org must not be empty$/],
  [stringify({ ...LEAST, baseurl: 'x' }), /has an unknown member: baseurl$/],
  [stringify({ ...LEAST, keys: {} }), / lacks keys\.main$/],
  [stringify({ ...LEAST, keys: { main: {} } }), /keys\.main must have either file or env$/],
  [stringify({ ...LEAST, keys: { main: { file: 'a', env: 'B' } } }), /keys\.main must have either file or env$/],
  [stringify({ ...LEAST, keys: { main: { env: 'a b' } } }), /keys\.main\.env must be the name of an environment/],
  [stringify({ ...LEAST, keys: { main: pem } }), /keys\.main must be an object with members$/],
  [stringify({ ...LEAST, keys: { main: { pem } } }), /unknown member: keys\.main\.pem$/],
  [stringify({ ...LEAST, keys: { ...LEAST.keys, others: {} } }), /keys\.others must be a list$/],
  [stringify({ ...LEAST, keys: { ...LEAST.keys, others: [{}] } }), /keys\.others\[0\] must have either/],
  [stringify({ ...LEAST, keys: { ...LEAST.keys, restricted: { file: 'a' } } }), / lacks keys\.restricted\.scopes$/],
  [stringify({ ...LEAST, keys: { ...LEAST.keys, restricted: { file: 'a', scopes: [] } } }), /scopes must not be empty/],
  [stringify({ ...LEAST, write: 'yes' }), /write must be true or false$/],
  [stringify({ ...LEAST, prefix: 'Team' }), /prefix must be 1 to 32 lower-case/],
  [stringify({ ...LEAST, rate: 0 }), /rate must be a number above 0, or unlimited$/],
  [stringify({ ...LEAST, rate: -1 }), /rate must be a number above 0, or unlimited$/],
  [stringify({ ...LEAST, timeout: 0 }), /timeout must be above 0$/],
  [stringify({ ...LEAST, timeout: 1.5 }), /timeout must be a whole number$/],
  [stringify({ ...LEAST, window: -1 }), /window must be above 0$/],
  [stringify({ ...LEAST, git_client: 'jgit' }), /git_client must be/],
  [stringify({ ...LEAST, variants: { 'A01 grep': 403 } }), /variants\.A01 grep must be a text$/],
  [stringify({ ...LEAST, second: { org: 'b' } }), / lacks second\.key$/],
];

t.test('an error message names the file and the member and contains no secret', async (t) => {
  for (const [text, says] of WRONG) {
    const path = fileWith(t, text);
    const error = await readTargetFile(path).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof InvalidTargetFile)) {
      t.fail(`${text} is taken: ${error}`);
      continue;
    }
    t.match(error.message, says);
    t.match(error.message, /^\S*target\.yaml [^\n]+$/, 'one line');
    t.notMatch(error.message, /PRIVATE KEY|MIG/);
  }
  await t.rejects(readTargetFile('/absent'), { message: '/absent cannot be read: no such file (ENOENT)' });
  await t.rejects(readTargetFile('/'), { message: /^\/ cannot be read: it is a folder/ });
});

t.test('a secret is read from a file or from the environment', async (t) => {
  const folder = t.testdir({ 'key.pem': pem, 'other.pem': '-----BEGIN EC PRIVATE KEY-----\nSECRET\n', empty: '' });
  const file = join(folder, 'key.pem');
  t.match(await readKeyEntry({ file, id: 'k' }, {}), { file, id: 'k', algorithm: 'ES256' });
  const inOneLine = pem.trim().replaceAll('\n', '\\n');
  for (const KEY of [pem, inOneLine]) {
    t.match(await readKeyEntry({ env: 'KEY', scopes: ['git:read'] }, { KEY }), {
      file: '$KEY',
      env: 'KEY',
      allowedScopes: ['git:read'],
    });
  }
  t.equal(await readSecret({ env: 'TOKEN' }, { TOKEN: 'secret' }), 'secret');
  await t.rejects(readKeyEntry({ env: 'KEY' }, {}), { message: 'the environment variable KEY is not set' });
  await t.rejects(readKeyEntry({ env: 'KEY' }, { KEY: '' }), { message: 'the environment variable KEY is not set' });
  await t.rejects(readKeyEntry({ env: 'KEY' }, { KEY: 'SECRET' }), { message: '$KEY is not a PKCS#8 PEM private key' });
  await t.rejects(readKeyEntry({ file: join(folder, 'other.pem') }, {}), { message: /other\.pem is not a PKCS#8 PEM/ });
  await t.rejects(readKeyEntry({ file: join(folder, 'absent') }, {}), {
    message: /absent cannot be read: no such file/,
  });
  chmodSync(file, 0o000);
  if (process.getuid?.() !== 0) await t.rejects(readKeyEntry({ file }, {}), { message: /permission denied/ });
});

t.test('the published schema equals the one that validates files', async (t) => {
  const published = readFileSync(join(packageRoot(), 'fixtures', 'conformance-target.schema.json'), 'utf8');
  t.equal(
    published,
    `${JSON.stringify(targetFileSchema(), null, 2)}\n`,
    'npx conformance schema target > fixtures/conformance-target.schema.json',
  );
  t.same(parseTargetFile(JSON.stringify({ $schema: 'x', ...LEAST })).org, 'acme', 'a file may name it');
});
