import { allRules, selectRules } from '../rules/registry.js';
import type { Rule } from '../rules/rule.js';
import { PREFIX, PREFIX_WORDS } from '../target/target-file.js';

/**
 * A mistake in what a run was asked for; the message is a sentence.
 *
 * ```js
 * await assert.rejects(run(target, { rate: -1 }), InvalidOption);
 * ```
 */
export class InvalidOption extends Error {
  override readonly name: string = 'InvalidOption';
}

/**
 * No rule matches the pattern.
 *
 * ```js
 * await assert.rejects(run(target, { only: 'no.such.rule' }), EmptySelection);
 * ```
 */
export class EmptySelection extends InvalidOption {
  override readonly name = 'EmptySelection';
}

/** The rules that a pattern selects; all of them without one. Throws `EmptySelection` if there are none. */
export function selectSome(only: string | undefined): Rule[] {
  const rules = selectRules(allRules(), only);
  if (rules.length === 0) throw new EmptySelection(`no rule is called ${only}`);
  return rules;
}

/** A number that an option may be. */
interface Bounds {
  readonly least?: number;
  /** More than this, and not this itself. */
  readonly above?: number;
  readonly most?: number;
  readonly isWhole?: boolean;
}

/** What a timer holds: 24 days in milliseconds. */
const LONGEST = 2 ** 31 - 1;

const NUMBERS: Readonly<Record<'timeout' | 'rate' | 'window' | 'width' | 'seed', Bounds>> = {
  timeout: { least: 1, most: LONGEST, isWhole: true },
  rate: { above: 0 },
  window: { above: 0, most: 7 * 86_400 },
  width: { least: 1, most: 64, isWhole: true },
  seed: { least: 0, most: 2 ** 32 - 1, isWhole: true },
};

/** Throws `InvalidOption`. */
export function checkOptions(
  options: Partial<Readonly<Record<keyof typeof NUMBERS, number>>> & {
    readonly shard?: { readonly index: number; readonly count: number };
    readonly prefix?: string;
  },
): void {
  for (const [name, bounds] of Object.entries(NUMBERS)) {
    const value = options[name as keyof typeof NUMBERS];
    if (value !== undefined && !isWithin(value, bounds)) {
      throw new InvalidOption(`${name} has to be ${describe(bounds)}, not ${String(value)}`);
    }
  }
  const { shard, prefix } = options;
  if (prefix !== undefined && !PREFIX.test(prefix)) throw new InvalidOption(`prefix ${PREFIX_WORDS}`);
  if (shard === undefined) return;
  const { index, count } = shard;
  if (!isWithin(count, { least: 1, isWhole: true }) || !isWithin(index, { least: 1, most: count, isWhole: true })) {
    throw new InvalidOption(`shard has to be from 1/${count} to ${count}/${count}, not ${index}/${count}`);
  }
}

function isWithin(value: number, { least, above, most, isWhole }: Bounds): boolean {
  if (typeof value !== 'number' || Number.isNaN(value)) return false;
  if (isWhole && !Number.isInteger(value)) return false;
  return (
    value >= (least ?? Number.NEGATIVE_INFINITY) &&
    value > (above ?? Number.NEGATIVE_INFINITY) &&
    value <= (most ?? Infinity)
  );
}

function describe({ least, above, most, isWhole }: Bounds): string {
  const kind = isWhole ? 'a whole number' : 'a number';
  if (above !== undefined) return `${kind} above ${above}${most === undefined ? '' : ` and up to ${most}`}`;
  return `${kind} from ${least} to ${most}`;
}
