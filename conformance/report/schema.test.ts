import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { run } from '../index.js';
import { packageRoot } from '../run/version.js';
import { minimal, startTestServer } from '../test/test-server.js';
import { REPORTERS, reporterOf } from './reporters.js';
import { VERDICTS } from './results.js';
import { readReport, reportJsonSchema } from './schema.js';
import { hostileResult, reportWith, resultOf } from './test/sample-report.js';

const FULL = reportWith([
  ...VERDICTS.map((verdict) => resultOf(verdict)),
  { ...hostileResult(), evidence: 'injected', recipe: { repo: 'a', claims: { exp: { from_now: 1 } }, key: 'main' } },
]);

/** Returns the paths of all members of `value` that the JSON Schema does not describe, such as `.rules[].id`. */
function unnamed(value: unknown, schema: z.core.JSONSchema.BaseSchema, path = ''): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((one) => unnamed(one, schema.items as z.core.JSONSchema.BaseSchema, `${path}[]`));
  }
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const own = schema.properties?.[name];
    return typeof own === 'object' ? unnamed(member, own, `${path}.${name}`) : [`${path}.${name}`];
  });
}

t.test('the schema equals the published file', async (t) => {
  const published = readFileSync(join(packageRoot(), 'fixtures', 'conformance-report.schema.json'), 'utf8');
  t.equal(`${JSON.stringify(reportJsonSchema(), undefined, 2)}\n`, published);
});

t.test('a result matches the schema and has no other members', async (t) => {
  const server = await startTestServer(minimal);
  const report = await run(server.target, { only: 'claim,other,git', flags: ['--org', 'demo'] });
  await server.close();
  const schema = z.fromJSONSchema(reportJsonSchema());
  for (const one of [JSON.parse(JSON.stringify(report)), JSON.parse(JSON.stringify(FULL))]) {
    t.equal(schema.safeParse(one).error, undefined);
    t.same(unnamed(one, reportJsonSchema()), []);
  }
});

t.test('reports are the same after a result is written and read again', async (t) => {
  const again = readReport(reporterOf('json', false)(FULL));
  for (const name of REPORTERS) t.equal(reporterOf(name, false)(again), reporterOf(name, false)(FULL), name);
});

t.test('a file that is not a result of this format is rejected with a message', async (t) => {
  const whole = JSON.parse(JSON.stringify(FULL));
  const cases: readonly (readonly [text: string, says: RegExp])[] = [
    ['', /^is not JSON$/],
    ['{"format": 1', /^is not JSON$/],
    ['null', /^is not a result/],
    ['[]', /^is not a result/],
    ['{}', /^is not a result/],
    ['{"format": 2}', /^has the format 2; this suite reads format 1$/],
    ['{"format": "1"}', /^has the format unknown; this suite reads format 1$/],
    ['{"format": 1}', /^is not a result of this suite: suite: /],
    [JSON.stringify({ ...whole, rules: 5 }), /^is not a result of this suite: rules: /],
    [JSON.stringify({ ...whole, rules: [{ id: 'x' }] }), /^is not a result of this suite: rules\[0\]\.section: /],
    [JSON.stringify({ ...whole, rules: [{ ...whole.rules[0], verdict: 'good' }] }), /rules\[0\]\.verdict: /],
  ];
  for (const [text, message] of cases)
    t.throws(() => readReport(text), { name: 'InvalidFile', message }, text.slice(0, 40));
  t.equal(
    readReport(JSON.stringify({ ...whole, later: true })).rules.length,
    whole.rules.length,
    'more members are kept',
  );
});
