import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export interface Arguments {
  /**
   * Substrings of mutant names or rule ids. Only mutants with one of them are checked, or all mutants if the list is
   * empty.
   */
  readonly parts: readonly string[];
  readonly lanes: number;
  readonly full: boolean;
  readonly fresh: boolean;
  readonly write: boolean;
}

export function readArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: {
      full: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      lanes: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    },
    allowPositionals: true,
  });
  const lanes = Number(values.lanes);
  if (!Number.isInteger(lanes) || lanes < 1) throw new Error(`--lanes is a whole number from 1, not ${values.lanes}.`);
  return { ...values, lanes, parts: positionals };
}
