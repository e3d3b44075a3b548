import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import * as library from '../index.js';
import { openScratch, run, startTargetEmulator } from '../index.js';

// The sources are outside `dist`, and the compiled test is in `dist/conformance/test`. Therefore the path goes up to
// the package folder.
const SOURCES = fileURLToPath(new URL('../../../conformance/', import.meta.url));
const EXAMPLE = /```js\n([\s\S]*?)```/g;

interface Example {
  /** Name of the function or class whose documentation contains the example. */
  readonly name: string;
  readonly code: string;
}

/** Returns the code examples in the documentation comments of all functions and classes of a source file. */
function examplesOf(file: string): Example[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  return source.statements
    .filter((node) => ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node))
    .flatMap((node) => {
      const comment = node
        .getFullText()
        .slice(0, node.getLeadingTriviaWidth())
        .replace(/^ *\* ?/gm, '');
      return [...comment.matchAll(EXAMPLE)].map(([, code]) => ({ name: node.name!.text, code: code! }));
    });
}

const examples = ['.', 'run', 'report', 'rules', 'target']
  .flatMap((folder) => readdirSync(join(SOURCES, folder)).map((file) => join(SOURCES, folder, file)))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap(examplesOf);

t.test('every export has an example', (t) => {
  const values = Object.keys(library).sort();
  t.same([...new Set(examples.map(({ name }) => name))].filter((name) => values.includes(name)).sort(), values);
  t.end();
});

t.test('every example runs', async (t) => {
  const emulator = await startTargetEmulator();
  t.teardown(() => emulator.close());
  const { target } = emulator;
  const folder = t.testdir({
    'target.yaml': 'base_url: https://api.example.com\norg: acme\nkeys: { main: { env: KEY } }\n',
  });
  const pem = target.key.privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(join(folder, 'acme.pem'), pem);
  const shorter = (given: object, options: object = {}) => run(given as typeof target, { ...options, only: 'grep' });
  /** Replaces placeholders in an example, such as file names and addresses, with the values of this test. */
  const own = (code: string) =>
    code
      .replace(/^import .*\n/gm, '')
      .replaceAll(/(?<=')(?:acme\.pem|made\.jsonl|target\.yaml)/g, (name) => join(folder, name))
      .replaceAll("baseUrl: 'https://api.example.com'", `baseUrl: '${target.baseUrl}'`)
      .replaceAll("gitUrl: 'https://git.example.com'", `gitUrl: '${target.gitUrl}'`)
      .replaceAll("org: 'acme'", "org: 'demo'")
      .replace(', rate: 2', '')
      .replace('eachRule(target)', "eachRule(target, { only: 'grep' })");
  for (const { name, code } of examples) {
    await (await openScratch({ target, file: join(folder, 'made.jsonl') })).add('cf-0123abcd/left');
    const tests: (() => void)[] = [];
    const scope = {
      ...library,
      given: target,
      assert,
      run: code.includes('only') || code.includes('rejects') ? run : shorter,
      console: { log: () => {} },
      test: (_title: string, check: (context: object) => void) => tests.push(() => check({ skip: () => {} })),
    };
    const body = /const (target|\{ target)/.test(code) ? own(code) : `const target = given;\n${own(code)}`;
    const example = new Function(...Object.keys(scope), `return (async () => {\n${body}\n})();`);
    await t.resolves(example(...Object.values(scope)), name);
    for (const check of tests) t.doesNotThrow(check);
  }
});
