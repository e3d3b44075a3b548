import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export interface Arguments {
  /**
   * Filter of mutants. A mutant is checked if its name or one of its rule ids contains one of these strings. An empty
   * list selects all mutants.
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
