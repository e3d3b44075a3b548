import t from 'tap';
import { ambiguityRows } from '../specification/ambiguities.js';
import { emulatorVariants, recordedSwitches } from './emulator-variants.js';

const told = (variants: Record<string, string>, observed: Record<string, Record<string, unknown>> = {}) =>
  emulatorVariants({
    variants,
    rules: Object.entries(observed).map(([id, values]) => ({ id, observed: values })) as never,
  });

t.test('a switch at its default is omitted, another value is listed', async (t) => {
  t.same(told({ 'A09 already matches': '409' }), { variants: {}, without: [] });
  t.same(told({ 'A09 already matches': '412 precondition_failed' }).variants, { restoreNoop: '412' });
  t.same(told({}, { 'general.content-type.other': { grep: '415 unsupported_media_type' } }).variants, {
    contentType: 'strict',
  });
  const blocked = { sync_in_progress: { repo: '409 sync_in_progress', commit: '409 sync_in_progress', notes: '409' } };
  t.same(told({}, { 'state.which-operations': blocked }).variants, { syncBlocks: 'all' });
});

t.test('a value must fit all that the switch governs', async (t) => {
  const [commit, archive] = ['A01 invalid token, commit', 'A01 invalid token, archive'];
  t.same(told({ [commit]: '401 unauthorized', [archive]: '403 forbidden' }).variants, {
    invalidToken: 'endpoint-table',
  });
  t.same(told({ [commit]: '401 unauthorized', [archive]: '401 unauthorized' }).variants, { invalidToken: '401' });
  const { variants, without } = told({ [commit]: '403 forbidden', [archive]: '401 unauthorized' });
  t.same(variants, {});
  t.same(without, [
    { point: commit, seen: '403 forbidden', why: 'no value of invalidToken matches these together' },
    { point: archive, seen: '401 unauthorized', why: 'no value of invalidToken matches these together' },
  ]);
});

t.test('an ambiguity without a switch is listed with the reason', async (t) => {
  t.same(told({ 'A34 other tenant': '403 forbidden', 'A99 new': 'x' }).without, [
    { point: 'A34 other tenant', seen: '403 forbidden', why: 'both sections state the same response' },
    { point: 'A99 new', seen: 'x', why: 'the emulator has no variant for it' },
  ]);
});

t.test('every switch is listed once and has more than one value', async (t) => {
  const rows = recordedSwitches();
  t.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  for (const { name, values } of rows) t.ok(values.length > 1 && new Set(values).size === values.length, name);
});

t.test('an ambiguity names the switches that govern what is recorded about it', async (t) => {
  const named = ambiguityRows().flatMap(({ code, variants }) => variants.map((name) => `${code} ${name}`));
  for (const { name, points } of recordedSwitches()) {
    for (const { code } of ambiguityRows().filter((row) => points.some((point) => point.startsWith(`${row.code} `)))) {
      t.ok(named.includes(`${code} ${name}`), `${code}: ${name}`);
    }
  }
});
