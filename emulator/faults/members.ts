import { z } from 'zod';
import { parseDuration, parseTime } from '../time/iso-8601.js';
import { CONDITIONS } from './conditions.js';
import { AMOUNT, COUNT, choice, FRACTION, integer, type Key, listOf, pattern, strict, TEXT, textThat } from './key.js';
import { matchersSchema } from './matchers.js';
import type { Member } from './member.js';

const OPERATIONS = listOf(TEXT, 1, 100);

const INSTANT = textThat(
  'an ISO 8601 time, such as 2026-01-01T00:00:00Z, or a duration, such as PT5S',
  'PT5S',
  (text) => (parseTime(text) ?? parseDuration(text)) !== undefined,
);

const CHANCE: Key = {
  ...FRACTION,
  wants: 'a number above 0, and at most 1',
  read: (text) => FRACTION.read(text) || undefined,
  schema: () => z.number().gt(0).max(1),
};

const SWITCH: Key<boolean> = {
  ...choice(['true', 'false']),
  read: (text) => ({ true: true, false: false })[text],
  schema: () => z.boolean(),
};

const OPERATION: Key = {
  ...OPERATIONS,
  read: (text) => {
    const ids = OPERATIONS.read(text);
    return ids?.length === 1 ? ids[0] : ids;
  },
  schema: () =>
    z.union([TEXT.schema(), OPERATIONS.schema()], {
      error: 'Must be the id of an operation, a glob, or a list of them',
    }),
};

const FIRED: Key = {
  ...COUNT,
  schema: () => {
    const range = strict({ min: COUNT.schema(), max: COUNT.schema() })
      .partial()
      .refine((value) => Object.keys(value).length > 0, 'Must have at least one of min and max');
    return z.union([COUNT.schema(), range], { error: 'Must be a number, or an object of min and max' });
  },
};

const ID = pattern('a name of letters, digits, _, ., : and -', /^[\w.:-]{1,100}$/, 'mine');
const PRIORITY = integer(-1_000_000, 1_000_000);
const PARTS = listOf(choice(['rule', 'token', 'repo', 'op', 'connection']), 1, 100);
const DURATION = textThat('an ISO 8601 duration, such as PT5S', 'PT5S', (text) => parseDuration(text) !== undefined);

/** All plain members of a fault in JSON: every member except `at`, `do` and `sequence`. */
export const MEMBERS: readonly Member[] = [
  { path: 'id', label: 'Id', hint: 'Default: fault-1, fault-2, …', key: ID },
  { path: 'note', label: 'Note', hint: 'Shown in lists of faults', key: TEXT },
  {
    path: 'priority',
    label: 'Priority',
    hint: 'Of the matching faults, the one with the highest priority fires',
    key: PRIORITY,
  },
  { path: 'enabled', label: 'Enabled', hint: 'false: does not fire until you enable it', key: SWITCH },
  { path: 'match.op', label: 'Operation', hint: 'Ids, separated by commas', key: OPERATION },
  ...CONDITIONS,
  { path: 'when.skip', label: 'Skip', hint: 'Number of matching requests before it fires', key: COUNT, mark: '+' },
  {
    path: 'when.times',
    label: 'Times',
    hint: 'Maximum number of times it fires; empty: unlimited',
    key: AMOUNT,
    mark: '*',
  },
  { path: 'when.every', label: 'Every', hint: 'Such as 3: fires for every third matching request', key: AMOUNT },
  {
    path: 'when.chance',
    label: 'Chance',
    hint: 'Probability, such as 0.5; the same seed repeats the choices',
    key: CHANCE,
  },
  {
    path: 'when.by',
    label: 'Count separately for each',
    hint: 'token, repo, op or connection, separated by commas',
    key: PARTS,
  },
  { path: 'when.from', label: 'Fires from', hint: 'Time such as 2026-01-01T00:00:00Z, or PT5S: in 5 s', key: INSTANT },
  { path: 'when.until', label: 'Fires until', hint: 'Time, or duration from now', key: INSTANT },
  { path: 'expect.fired', label: 'Expected firings', hint: 'Number that `emulator verify` checks', key: FIRED },
  { path: 'ttl', label: 'Remove after', hint: 'Duration, such as PT1H', key: DURATION },
];

/** Returns the key of a member in the text form of a fault: `match.token.sub` → `match.sub`. */
export function textKeyOf(path: string): string {
  return path.replace(/^match\.(?:token|http|git)\./, 'match.');
}

/**
 * Returns the schemas of the members whose path starts with `path`. They are stored by the next name of their path:
 * `token` for `match.token.sub` below `match.`.
 */
export function schemasBelow(path: string): Record<string, z.ZodType> {
  const schemas: Record<string, z.ZodType> = {};
  for (const { path: full, key, nameOf } of MEMBERS.filter((one) => one.path.startsWith(path))) {
    const [name, ...rest] = full.slice(path.length).split('.') as [string, ...string[]];
    if (Object.hasOwn(schemas, name)) continue;
    if (rest.length > 0) {
      const group = strict(schemasBelow(`${path}${name}.`));
      schemas[name] = name === 'expect' ? group : group.partial();
    } else schemas[name] = nameOf === undefined ? key.schema() : matchersSchema();
  }
  return schemas;
}
