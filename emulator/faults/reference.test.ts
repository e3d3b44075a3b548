import t from 'tap';
import { operations } from '../api/index.js';
import { Problem } from '../http/problem.js';
import { compileFault } from './compiled-fault.js';
import { parseFault } from './grammar.js';
import { faultReference, type NameReference } from './reference.js';
import { stagesOf } from './request-shape.js';
import { STAGES, type Stage } from './stage.js';

const { names } = faultReference();

function isAccepted(spec: string, operation: string, inBand?: 'header'): boolean {
  try {
    const { fault } = parseFault(spec, 'spec');
    const { stages } = names.find(({ name }) => spec.startsWith(name))!;
    // At the stage `accept`, the request's operation is unknown.
    const isEarly = fault.at === 'accept' || stages.join() === 'accept';
    const match = isEarly ? {} : { op: operation };
    compileFault({ ...fault, match }, { where: 'spec', now: 0, operations, ...(inBand && { inBand }) });
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

/**
 * Writes a fault (injected failure) with its required keys in the short notation. `STAGE` is a placeholder for the
 * stage. `value` is the value of `key`. Without it, the reference's example is used.
 */
function specOf({ name, keys }: NameReference, key?: string, value?: string): string {
  const required = keys.find((each) => each.key === key)?.requires;
  const given = keys.flatMap((each) =>
    each.key === key
      ? [`;${key}=${encodeURIComponent(value ?? each.example)}`]
      : each.needed || each.key === required
        ? [`;${each.key}=${each.example}`]
        : [],
  );
  return `${name}@STAGE${given.join('')}`;
}

/** API operations that support different sets of faults (injected failures). Each set occurs once. */
const SOME = operations.filter(({ id }) =>
  [
    'gitInfoRefs',
    'gitUploadPack',
    'gitReceivePack',
    'readFile',
    'commitPack',
    'createBranch',
    'syncUpstream',
    'createDeployment',
  ].includes(id),
);

t.test('the reference offers for each operation exactly the possible faults', (t) => {
  t.ok(SOME.length >= 6);
  for (const operation of SOME) {
    const has = stagesOf(operation);
    for (const row of names) {
      const isPossible = !row.isOfFew || (operation.errors as readonly string[]).includes(row.name);
      const check = (spec: string, stages: readonly Stage[]) => {
        for (const stage of Object.keys(STAGES) as Stage[]) {
          const isOffered = isPossible && has.has(stage) && stages.includes(stage);
          // Skip the stage `accept`, because the request's operation is unknown at that stage.
          if (stage === 'accept') continue;
          t.equal(
            isAccepted(spec.replace('STAGE', stage), operation.id),
            isOffered,
            `${spec} ${stage} ${operation.id}`,
          );
        }
      };
      check(specOf(row), row.stages);
      for (const { key, type, example, values = [], narrows } of row.keys) {
        for (const value of type === 'choice' ? values : [example, ...values]) {
          const narrowed = narrows.find((each) => each.value === undefined || each.value === value);
          check(specOf(row, key, value), narrowed?.stages ?? row.stages);
        }
      }
      const stage = row.defaults[operation.id] ?? (operation.group === 'Git' ? undefined : row.defaults.api);
      const isComplete = isPossible && stage !== undefined && has.has(stage);
      t.equal(isAccepted(specOf(row).replace('@STAGE', ''), operation.id), isComplete, `${row.name} ${operation.id}`);
    }
  }
  t.end();
});

t.test('bounds, choices and examples of keys equal those of the parser', (t) => {
  const reads = (row: NameReference, key: string, value: string) => {
    try {
      parseFault(specOf(row, key, value).replace('@STAGE', ''), 'spec');
      return true;
    } catch {
      return false;
    }
  };
  for (const row of names) {
    for (const { key, type, least: min, most: max, longest, values = [], example } of row.keys) {
      for (const value of [example, ...values]) t.ok(reads(row, key, value), `${row.name} ${key}=${value}`);
      for (const bound of [min, max]) if (bound !== undefined) t.ok(reads(row, key, String(bound)));
      if (type === 'integer') t.notOk(reads(row, key, '1.5'), `${row.name} ${key}`);
      if (type === 'choice') t.notOk(reads(row, key, 'other'));
      if (max !== undefined) t.notOk(reads(row, key, String(max + 1)), `${row.name} ${key} ${max}`);
      if (min !== undefined && min > 0) t.notOk(reads(row, key, String(min - 1)));
      if (longest !== undefined)
        t.same([reads(row, key, 'x'.repeat(longest)), reads(row, key, 'x'.repeat(longest + 1))], [true, false]);
    }
  }
  t.end();
});

t.test('requests can carry faults at exactly the stages marked as in-band', (t) => {
  const operation = SOME.find(({ id }) => id === 'commitPack')!;
  for (const row of names.filter(({ isOfFew }) => !isOfFew)) {
    for (const stage of row.stages) {
      if (stage === 'accept' || !stagesOf(operation).has(stage)) continue;
      const spec = specOf(row).replace('STAGE', stage);
      t.equal(isAccepted(spec, operation.id, 'header'), row.inBandStages.includes(stage), spec);
    }
  }
  t.end();
});
