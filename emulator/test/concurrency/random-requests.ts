import fc from 'fast-check';
import { z } from 'zod';
import type { OperationId } from '../../config/operation-ids.js';
import type { Operation } from '../../operation/operation.js';

/** Part of JSON Schema that the schemas of parameters and bodies use. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
}

/**
 * Random request for one API operation. It is valid enough to pass the emulator's first checks, and random enough to
 * fail at later ones.
 */
export interface RandomRequest {
  readonly target: string;
  readonly body: Buffer | undefined;
}

const ODD_STRINGS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\ufeff',
  '__proto__',
  'constructor',
  '..',
  '.git',
  '%2F',
  '/',
  '\n',
  '-1',
  '0',
  '1e999',
  '(a+)+$',
  '[',
  '(?=x)',
  'x'.repeat(3000),
  '../../etc/passwd',
  'refs/heads/main',
  'a..b',
  '@{1}',
  '0'.repeat(40),
  '<script>',
  '\r\nx: y',
  '😀',
];

const PATCH = 'diff --git a/p b/p\nnew file mode 100644\n--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n';

/**
 * Values for members and parameters of random requests, by patterns of their names. FIRST, TIP and TOPIC stand for
 * commits in the repository of the tests.
 */
const BY_NAME: ByName = [
  [/^(expected_.*|target|target_commit_sha|sha|baseSha|object_ref)$/, ['FIRST', 'TIP', 'TOPIC']],
  [/^(ref|base_ref|rev|source_ref|preferred_base)$/, ['main', 'topic', 'FIRST', 'v1', 'main~1', 'HEAD']],
  [/^(notes_ref|prefix)$/, ['reviews', 'refs/notes/commits', 'commits']],
  [/(branch|^base$|^branch$)$/, ['main', 'topic', 'new', 'n/ew']],
  [/^(name|tag)$/, ['topic', 'v1', 'v2', 'Ada']],
  [/^path$/, ['a.txt', 'd/b.txt', 'd', 'new/file']],
  [/^content_id$/, ['one']],
  [/^data$/, [Buffer.from(PATCH).toString('base64')]],
  [/^cursor$/, ['']],
  [/^(limit|range)$/, ['1', '5', '1,2', '200']],
  [/^email$/, ['ada@example.com']],
  [/^(pattern|q)$/, ['alpha', 'a|b', 'team']],
  [/^repo_name$/, ['team/new']],
  [/_?globs?$|^include|^exclude/, ['**/*.txt', 'd/**']],
  [/^(ephemeral|.*ephemeral.*|recursive|detect_moves|include_content|.*[aA]pply.*)$/, ['true', 'false']],
];

type Strings = (name: string) => fc.Arbitrary<string>;

/** Generator of any text. All requests share it, because creating it takes longer than most requests. */
const anyText = fc.string({ unit: 'binary', maxLength: 20 });

/** Table of values for members and parameters of random requests. A row applies to all names that match its pattern. */
export type ByName = readonly (readonly [name: RegExp, values: readonly string[]])[];

/**
 * Returns a function that maps the name of a member or parameter to a generator of strings. It generates mostly valid
 * values, sometimes values of other members, and rarely any string.
 */
function stringsFor(shas: readonly string[], ownNames: ByName): Strings {
  const [first, tip, topic] = shas as [string, string, string];
  const ids: Record<string, string> = { FIRST: first, TIP: tip, TOPIC: topic };
  const named = BY_NAME.map(([name, values]) => [name, values.map((value) => ids[value] ?? value)] as const);
  const known = [...ownNames, ...named];
  const all = [...known.flatMap(([, values]) => values), first.slice(0, 9), 'text', 'http://127.0.0.1:1/'];
  return (name) => {
    const fitting = known.find(([pattern]) => pattern.test(name))?.[1] ?? ['text'];
    return fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...fitting) },
      { weight: 3, arbitrary: fc.constantFrom(...all) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD_STRINGS) },
      { weight: 1, arbitrary: anyText },
    );
  };
}

/** Generator of JSON values that no API operation should accept, to test the operations' checks. */
const junk = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e308, 2 ** 53, [], {}, [[]], { polluted: 1 }),
  fc.constantFrom(...ODD_STRINGS),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant({ '@proto': { polluted: 1 }, constructor: { prototype: { polluted: 1 } } }),
);

function valuesOf(schema: Schema, strings: Strings, name = ''): fc.Arbitrary<unknown> {
  const good = (): fc.Arbitrary<unknown> => {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, strings, name)));
    switch (schema.type) {
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number':
        return fc.constantFrom(1, 2, 100, 5000, 0);
      case 'array':
        return fc.array(valuesOf(schema.items ?? {}, strings, name), { maxLength: 3 });
      case 'object':
        return objectsOf(schema, strings);
      default:
        return strings(name);
    }
  };
  return fc.oneof({ weight: 60, arbitrary: good() }, { weight: 1, arbitrary: junk });
}

function objectsOf({ properties = {}, required = [] }: Schema, strings: Strings): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, strings, name)]),
  );
  const good = fc.record(members, { requiredKeys: required as string[] });
  const extra = fc.constant({ '@proto': { polluted: 1 }, unknown: 1 });
  return fc.oneof(
    { weight: 10, arbitrary: good },
    { weight: 1, arbitrary: fc.record(members, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.tuple(good, extra).map(([one, other]) => ({ ...(one as object), ...other })) },
  );
}

/** Formats a value as JSON. The key `@proto` stands for `__proto__`, which cannot be a key in an object literal. */
function jsonOf(value: unknown): string {
  return (JSON.stringify(value) ?? '').replaceAll('"@proto"', '"__proto__"');
}

const PERSON: Schema = { type: 'object', properties: { name: {}, email: {} }, required: ['name', 'email'] };
const WRITE: Record<string, Schema> = {
  target_branch: {},
  commit_message: {},
  author: PERSON,
  committer: PERSON,
  base_branch: {},
  ephemeral: { type: 'boolean' },
};
const FILE: Schema = {
  type: 'object',
  properties: { path: {}, content_id: {}, mode: { enum: ['100644', '100755', '120000'] } },
  required: ['path', 'content_id'],
};
const NEEDED = ['target_branch', 'commit_message', 'author', 'files'];
const HEADS = { expected_head_sha: {}, expected_target_sha: {} };

/** Schemas for the first line of streamed request bodies. The table of operations does not describe this line. */
const STREAMED: Readonly<Partial<Record<OperationId, Schema>>> = {
  commitPack: {
    type: 'object',
    properties: { ...WRITE, files: { type: 'array', items: FILE } },
    required: NEEDED,
  },
  diffCommit: { type: 'object', properties: WRITE, required: NEEDED.slice(0, 3) },
  restoreCommit: {
    type: 'object',
    properties: { ...WRITE, ...HEADS, target_commit_sha: {}, base_ref: {} },
    required: ['target_branch', 'author', 'target_commit_sha'],
  },
};
const YES: Schema = { const: true };

function chunksOf(operation: Operation, strings: Strings): fc.Arbitrary<unknown[]> {
  if (operation.id === 'restoreCommit') return fc.constant([]);
  const isPatch = operation.id === 'diffCommit';
  const name = isPatch ? 'diff_chunk' : 'blob_chunk';
  const properties: Record<string, Schema> = {
    ...(isPatch ? {} : { content_id: {} }),
    data: {},
    eof: { anyOf: [YES, YES, YES, { type: 'boolean' }] },
  };
  const chunk = valuesOf({ type: 'object', properties, required: Object.keys(properties) }, strings);
  const line = chunk.map((value) => ({ [name]: value }));
  return fc.oneof({ weight: 4, arbitrary: fc.tuple(line) }, { weight: 1, arbitrary: fc.array(line, { maxLength: 3 }) });
}

function bodiesOf(operation: Operation, strings: Strings): fc.Arbitrary<Buffer | undefined> {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        '',
        '{',
        'null',
        '[]',
        '"x"',
        '{"a":1}{',
        '[['.repeat(60),
        '{"__proto__":{"polluted":1}}',
        '\ufeff{}',
      )
      .map((text) => Buffer.from(text)),
    junk.map((value) => Buffer.from(jsonOf(value))),
  );
  if (operation.reads === 'stream') {
    const head = valuesOf(STREAMED[operation.id]!, strings).map((metadata) => ({ metadata }));
    const lines = fc.tuple(head, chunksOf(operation, strings));
    const text = lines.map(([head, chunks]) =>
      Buffer.from([head, ...chunks].map((line) => `${jsonOf(line)}\n`).join('')),
    );
    return fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: noise });
  }
  if (!operation.body)
    return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: noise });
  const schema = z.toJSONSchema(operation.body, { io: 'input', unrepresentable: 'any' }) as Schema;
  const text = valuesOf(schema, strings).map((value) => Buffer.from(jsonOf(value)));
  return fc.oneof(
    { weight: 8, arbitrary: text },
    { weight: 1, arbitrary: noise },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

function queriesOf(operation: Operation, strings: Strings): fc.Arbitrary<string> {
  const schema = operation.query
    ? (z.toJSONSchema(operation.query, { io: 'input', unrepresentable: 'any' }) as Schema)
    : {};
  // Leave out the parameter `cursor`. Valid cursors exist only in responses, so a random cursor would make nearly every
  // request invalid.
  const names = Object.keys(schema.properties ?? {}).filter((name) => name !== 'cursor');
  const values = Object.fromEntries(names.map((name) => [name, strings(name)]));
  const pairs = fc.record(values, { requiredKeys: (schema.required ?? []) as string[] });
  const odd = [
    '%',
    '%ff',
    'a=%00',
    '&&',
    '=',
    '__proto__=1',
    'path',
    'limit=-1',
    'cursor=x',
    'ref=main&ref=main',
    'unknown=1',
  ];
  return fc
    .tuple(pairs, fc.option(fc.constantFrom(...odd), { freq: 8, nil: undefined }))
    .map(([values, extra]) =>
      [
        ...Object.entries(values).map(([name, value]) => `${name}=${encode(value as string)}`),
        ...(extra === undefined ? [] : [extra]),
      ].join('&'),
    );
}

/** Percent-encodes text for a URL. Replaces lone surrogates, which cannot be encoded, with U+FFFD. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

/**
 * Returns a generator of random requests for `operation`, through any of its routes, in the repository `repo`. Values
 * in `ownNames` take precedence over the common ones.
 */
export function randomRequests(
  operation: Operation,
  repo: string,
  shas: readonly string[],
  ownNames: ByName = [],
): fc.Arbitrary<RandomRequest> {
  const strings = stringsFor(shas, ownNames);
  const paths = fc
    .tuple(fc.constantFrom(...operation.routes), strings('tag'))
    .map(([route, value]) =>
      route.path.replace('{repo_name}', encode(repo)).replace(/\{\w+\}/, () => encode(value) || 'x'),
    );
  return fc.tuple(paths, queriesOf(operation, strings), bodiesOf(operation, strings)).map(([path, query, body]) => ({
    target: query === '' ? path : `${path}?${query}`,
    body,
  }));
}
