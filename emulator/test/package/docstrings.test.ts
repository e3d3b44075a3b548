import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import ts from 'typescript';
import type { GivenOptions } from '../../config/options.js';
import { connectEmulator, type Emulator, startEmulator } from '../../index.js';

// The path goes up to the sources, because the compiled tests are below dist/emulator/test.
const SOURCES = fileURLToPath(new URL('../../../../emulator/', import.meta.url));
const EXAMPLE = /```js\n([\s\S]*?)```/g;

/** Returns the code examples in a source text's comments: the text between the fences "```js" and "```". */
function examplesIn(text: string): string[] {
  return [...text.replace(/^ *\* ?/gm, '').matchAll(EXAMPLE)].map(([, code]) => code!);
}

function readSource(path: string): string {
  return readFileSync(join(SOURCES, path), 'utf8');
}

const FILES = [
  'index.ts',
  ...readdirSync(join(SOURCES, 'library'))
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => join('library', file)),
];

/** Code that replaces placeholders in examples, so that the examples can run. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '// … a test …': 'await test();',
  '// … when the request is there …': 'await requestIsThere();',
};

/** Runs the code of an example with an emulator. The emulator has a repository and has received some requests. */
async function runExample(t: Test, code: string): Promise<void> {
  const start = async (given: GivenOptions = {}): Promise<Emulator> => {
    const started = await startEmulator({ ...given, port: 0 });
    t.teardown(() => started.close({ graceMs: 0 }));
    return started;
  };
  const emulator = await start();
  const token = await emulator.token({ repo: 'team/app', scopes: ['repo:write', 'git:write', 'git:read', 'org:read'] });
  const headers = { authorization: `Bearer ${token}` };
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(emulator.baseUrl + path, { ...init, headers: { ...headers, ...init.headers } }).catch(() => undefined);
  await ask('/api/repos', { method: 'POST', body: '{}' });
  const thawing = { 'x-emulator-fault': 'repository_thawing', 'content-type': 'application/x-ndjson' };
  await ask('/api/v1/repos/commit-pack', { method: 'POST', body: '{}\n', headers: thawing });
  const hooks: (() => Promise<unknown>)[] = [];
  const scope = {
    startEmulator: start,
    connectEmulator,
    emulator,
    assert,
    seeded: await emulator.snapshot(),
    afterEach: (hook: () => Promise<unknown>) => hooks.push(hook),
    console: { log: () => {} },
    test: async () => {
      for (let at = 0; at < 2; at++) await ask('/team/app.git/info/refs?service=git-upload-pack');
    },
    requestIsThere: async () => {
      void ask('/api/repos');
      while (!emulator.verify({ faults: { everyFired: true } }).met) await sleep(5);
    },
  };
  const whole = Object.entries(LEFT_OUT).reduce((text, [words, does]) => text.replace(words, does), code);
  const { outputText } = ts.transpileModule(`async function example() {${whole}}`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022 },
  });
  const example = new Function(...Object.keys(scope), `${outputText}; return example();`);
  await example(...Object.values(scope));
  for (const hook of hooks) await hook();
}

for (const file of FILES) {
  const examples = examplesIn(readSource(file));
  if (examples.length === 0) continue;
  t.test(`the examples of ${file}`, async (t) => {
    for (const [at, code] of examples.entries()) {
      await t.test(`number ${at + 1}`, async (t) => {
        await runExample(t, code);
        t.pass(code);
      });
    }
  });
}

t.test('every method that the library has is called in an example', (t) => {
  for (const file of FILES) {
    const source = ts.createSourceFile(file, readSource(file), ts.ScriptTarget.ES2022, true);
    for (const node of source.statements.filter(ts.isInterfaceDeclaration)) {
      const examples = examplesIn(node.getFullText()).join('\n');
      for (const member of node.members.filter(ts.isMethodSignature)) {
        const name = member.name.getText();
        t.match(examples, new RegExp(`\\b${name}\\(`), `${node.name.text}.${name}`);
      }
    }
  }
  t.end();
});

t.test('the example of each module for a test runner is what its project has', (t) => {
  for (const runner of ['node-test', 'tap', 'vitest', 'jest']) {
    const [example] = examplesIn(readSource(`runners/${runner}.ts`));
    t.equal(example, readSource(`test/runners/${runner}/lost-response.test.js`), runner);
    const lines = example!.split('\n').filter((line) => line !== '');
    t.ok(lines.length < 10, `${runner}: ${lines.length} lines`);
  }
  t.end();
});
