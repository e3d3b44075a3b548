import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { DOCUMENTS, generatedFiles, printedParts, ROOT, readDocument } from './documents.js';
import { PROGRAMS } from './folders.js';

t.test('printed tables equal the output of their commands', async (t) => {
  let count = 0;
  for (const name of DOCUMENTS) {
    for (const { command, found, expected } of await printedParts(name)) {
      count += 1;
      t.equal(found, expected, `${name}: npm run documents prints what ${command} says`);
    }
  }
  t.ok(count >= 4);
});

t.test('generated files are current', async (t) => {
  for (const { file, text } of await generatedFiles())
    t.equal(readDocument(file), text, `npm run documents updates ${file}`);
});

t.test('the table of folders names every folder once, and imports only from above', async (t) => {
  for (const { name, folders } of PROGRAMS) {
    const above = new Set<string>();
    for (const { path, imports = [] } of folders) {
      for (const from of imports) {
        const isKnown =
          from.endsWith('.js') || [...above].some((known) => known === from || known.startsWith(`${from}/`));
        t.ok(isKnown, `${name}: ${path} imports ${from}`);
      }
      t.notOk(above.has(path), `${name}: ${path} is listed once`);
      above.add(path);
    }
    for (const entry of readdirSync(join(ROOT, name), { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const isListed = [...above].some((path) => path.split('/')[0] === entry.name);
      t.ok(isListed, `${name}: ${entry.name}`);
    }
  }
});

t.test('pages are short, except the printed reference', async (t) => {
  t.ok(readDocument('README.md').split('\n').length < 150);
  for (const name of DOCUMENTS.filter((one) => one.startsWith('emulator/docs/'))) {
    if (name !== 'emulator/docs/reference.md') t.ok(readDocument(name).split('\n').length < 300, name);
  }
});

t.test('documents state the number of rules that the suite has', async (t) => {
  const count =
    readFileSync(join(ROOT, 'fixtures', 'rules.tsv'), 'utf8')
      .trim()
      .split('\n').length - 1;
  const stated = ['README.md', 'conformance/README.md'].flatMap(
    (name) => readDocument(name).match(/\d+(?= rules\b)/g) ?? [],
  );
  t.same([...new Set(stated)], [String(count)]);
});

t.test('every page about the emulator is linked from the index', async (t) => {
  const index = readDocument('emulator/README.md');
  for (const name of DOCUMENTS.filter((one) => one.startsWith('emulator/docs/'))) {
    t.ok(index.includes(`](${name.replace('emulator/', '')})`), name);
  }
});

t.test('the README warns of npx before it uses it', async (t) => {
  const readme = readDocument('README.md');
  t.ok(readme.indexOf('[!WARNING]') < readme.indexOf('npx'));
});

/**
 * Returns the anchors of a Markdown document, to which links can point. GitHub derives an anchor from each heading (`##
 * Where to go on` → `where-to-go-on`). A document can also contain `<a id>`.
 */
function anchorsOf(text: string): string[] {
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/ /g, '-'),
  );
  return [...written, ...headings];
}

t.test('links lead to files and headings that exist', async (t) => {
  for (const name of DOCUMENTS) {
    const text = readDocument(name);
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? name : join(dirname(name), path);
      const place = existsSync(join(ROOT, file, 'README.md')) ? join(file, 'README.md') : file;
      t.ok(existsSync(join(ROOT, place)), `${name}: ${target}`);
      if (anchor !== undefined) t.ok(anchorsOf(readDocument(place)).includes(anchor), `${name}: ${target}`);
    }
  }
});

t.test('every file that a document names exists', async (t) => {
  for (const name of DOCUMENTS) {
    for (const [, path = ''] of readDocument(name).matchAll(/`((?:emulator|conformance|bin)\/[\w./-]+\.\w+)`/g)) {
      t.ok(existsSync(join(ROOT, path)), `${name}: ${path}`);
    }
  }
});

/**
 * Patterns of commands that documents must not contain. They change settings permanently, or disable the protection of
 * later commands.
 */
const LASTING: readonly RegExp[] = [
  /\bgit config\b(?!.*--(get|list|show))/,
  /\bnpm (config )?set\b/,
  />>?\s*("?\$HOME|~)\//,
  /GIT_SSL_NO_VERIFY|sslVerify|NODE_TLS_REJECT_UNAUTHORIZED|strict-ssl/i,
  /update-ca-(certificates|trust)|add-trusted-cert|certutil/,
];
const ONE_COMMAND = /\bgit -c \S|\bGIT_CONFIG_COUNT=/;

function lastingIn(text: string): string[] {
  const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
  return lines.filter(
    (line) => LASTING.some((setting) => setting.test(line)) || (/insteadOf/i.test(line) && !ONE_COMMAND.test(line)),
  );
}

t.test('no document, command or page suggests a setting that outlives the command', async (t) => {
  for (const line of [
    'git config --global url."http://t:".insteadOf "https://t:"',
    'git config --system http.proxy x',
    '`url.http://x/.insteadOf`',
    'npx emulator completion >> ~/.bashrc',
    'export GIT_SSL_NO_VERIFY=1',
  ]) {
    t.same(lastingIn(line), [line]);
  }
  t.same(lastingIn('A=1 \\\n  git -c url."http://a/".insteadOf=https://a/ push\ngit config --get user.name'), []);
  const shown = ['emulator/cli', 'emulator/page', 'conformance/cli', 'conformance/report'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(tsx?|html)$/.test(name) && !/test/.test(name))
      .map((name) => join(folder, name)),
  );
  const others = ['fixtures/keys/README.md', 'emulator/action.yml', 'conformance/action.yml', 'emulator/Dockerfile'];
  for (const name of [...DOCUMENTS, ...others, ...shown]) {
    t.same(lastingIn(readFileSync(join(ROOT, name), 'utf8')), [], name);
  }
});
