import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { run } from '../index.js';
import { emulatorVariants, recordedSwitches, UNSEEN_SWITCHES } from '../report/emulator-variants.js';
import type { Report } from '../report/results.js';
import { packageRoot } from '../run/version.js';
import { ambiguityRows } from '../specification/ambiguities.js';
import { expectLegal } from './legal/expect-right.js';
import { startNamespace } from './shared-emulator.js';

const execute = promisify(execFile);

/**
 * Runs the suite against an emulator with the given variants (switches between legal behaviours, name to value). `only`
 * has comma-separated ids of the rules to run. Without it, all rules run.
 */
async function runWith(variants: Readonly<Record<string, string>>, only?: string): Promise<Report> {
  return run(await startNamespace(t, { variants }), only === undefined ? {} : { only });
}

/**
 * Returns a non-default value for each variant (switch between legal behaviours), by name. `number` selects the value:
 * 1 for the first after the default. It wraps around if a variant has fewer values.
 */
function valuesAt(number: number): Record<string, string> {
  return Object.fromEntries(
    recordedSwitches().map(({ name, values }) => [name, values[1 + ((number - 1) % (values.length - 1))] ?? '']),
  );
}

/** Ids of rules whose observations show the value of a variant (switch between legal behaviours). */
const OBSERVERS = [
  'file.conditional',
  'general.content-type.other',
  'repo.get.404',
  'restore.failure-body',
  'state.which-operations',
];

// This file tests the third value of each variant with all rules. The test `legal-variants` does so for the second
// value. Other values need only the rules that record a variant, which saves time.
const whole = await runWith(valuesAt(2));
const recorders = whole.rules.filter(({ variants }) => variants !== undefined).map(({ id }) => id);
const recording = [...OBSERVERS, ...recorders].join();

t.test('the variants equal those that the emulator prints', async (t) => {
  const { stdout } = await execute(process.execPath, [join(packageRoot(), 'bin/emulator.js'), 'variants', '--json']);
  const printed: { name: string; values: readonly string[] }[] = JSON.parse(stdout);
  const unseen = printed.filter(({ name }) => Object.hasOwn(UNSEEN_SWITCHES, name));
  t.same(unseen.map(({ name }) => name).sort(), Object.keys(UNSEEN_SWITCHES).sort());
  const byName = (rows: readonly { name: string; values: readonly string[] }[]) =>
    rows.map(({ name, values }) => [name, values]).sort();
  t.same(byName(recordedSwitches()), byName(printed.filter((row) => !unseen.includes(row))));
  const ofAmbiguities = new Set(ambiguityRows().flatMap(({ variants }) => variants));
  const names = printed.map(({ name }) => name).filter((name) => !Object.hasOwn(UNSEEN_SWITCHES, name));
  t.same([...ofAmbiguities].sort(), names.sort(), 'and those that the table of ambiguities names');
});

t.test('the table of ambiguities lists every rule that records a decision of the target', async (t) => {
  const listed = new Map(ambiguityRows().map(({ code, rules }) => [code as string, rules]));
  const missing = whole.rules.flatMap(({ id, variants = {} }) =>
    Object.keys(variants)
      .map((key) => key.slice(0, key.indexOf(' ')))
      .filter((code) => !listed.get(code)?.includes(id))
      .map((code) => `${code}: ${id}`),
  );
  t.same(missing, []);
  const ids = new Set(whole.rules.map(({ id }) => id));
  t.same(
    [...listed.values()].flat().filter((id) => !ids.has(id)),
    [],
    'and no rule that does not exist',
  );
});

/**
 * A variant whose value other variants hide, and the rule that observes it. A variant switches between legal
 * behaviours. The other variants make a failed commit-pack request respond with a result object, which contains no
 * error code.
 */
const HIDDEN_BY_RESULT = { name: 'missingBaseBranch', shownBy: 'pack.base_branch.missing' };

t.test('a variant that other variants hide is found when they do not hide it', async (t) => {
  const { name, shownBy } = HIDDEN_BY_RESULT;
  const { values = [] } = recordedSwitches().find((row) => row.name === name) ?? {};
  for (const value of values.slice(1)) {
    const { variants } = emulatorVariants(await runWith({ [name]: value }, shownBy));
    t.same(variants, { [name]: value });
  }
});

t.test('by default no variant is set, and every ambiguity has a variant or a reason', async (t) => {
  const { variants, without } = emulatorVariants(await runWith({}, recording));
  t.same(variants, {});
  t.same(
    without.filter(({ why }) => why.startsWith('no value') || why.startsWith('the emulator')),
    [],
  );
});

const max = Math.max(...recordedSwitches().map(({ values }) => values.length));
for (let number = 1; number < max; number++) {
  t.test(`the variants printed for an emulator make another emulator behave alike, ${number}`, async (t) => {
    const chosen = valuesAt(number);
    const first = number === 2 ? whole : await runWith(chosen, recording);
    expectLegal(t, first);
    const told = emulatorVariants(first).variants;
    const { [HIDDEN_BY_RESULT.name]: hidden, ...shown } = chosen;
    t.same(told, chosen.writeFailureBody === 'all' ? shown : chosen, 'the recording tells every switch');
    const second = await runWith(told, recording);
    t.same(second.variants, first.variants, 'and gives the same recording');
  });
}
