import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { allRules } from '../../rules/registry.js';
import { packageRoot } from '../../run/version.js';
import type { Lane } from './lane.js';
import type { Mutant } from './mutant.js';
import { type Outcome, outcomesOf } from './outcome.js';
import { rowOf, type TableRow } from './table.js';

/** The rows that one mutant has in the table. */
interface Progress {
  /** Changes where what the mutant is changes. */
  readonly key: string;
  readonly rows: readonly TableRow[];
}

/** What has been checked by every rule so far: a line of JSON each, so that a run that was stopped goes on where it was. */
export class FullRun {
  readonly #file: string;
  readonly #known = new Map<string, readonly TableRow[]>();

  /** `fresh`: nothing of an earlier run counts. */
  constructor(fresh: boolean) {
    const checkout = createHash('sha256').update(packageRoot()).digest('hex').slice(0, 8);
    this.#file = join(tmpdir(), `repohost-mutants-full-${checkout}`, 'progress.jsonl');
    mkdirSync(dirname(this.#file), { recursive: true });
    if (fresh) rmSync(this.#file, { force: true });
    if (!existsSync(this.#file)) return;
    for (const line of readFileSync(this.#file, 'utf8').split('\n')) {
      const done = readProgress(line);
      if (done !== undefined) this.#known.set(done.key, done.rows);
    }
  }

  isDone(mutant: Mutant): boolean {
    return this.#known.has(keyOf(mutant));
  }

  rowsOf(mutant: Mutant): readonly TableRow[] {
    return this.#known.get(keyOf(mutant)) ?? [];
  }

  /** Checks a mutant by every rule. */
  async check(lane: Lane, mutant: Mutant): Promise<Outcome[]> {
    const outcomes = outcomesOf(mutant, await lane.run(mutant, allRules()));
    const told = outcomes.filter(
      ({ rule, fate, verdict }) =>
        mutant.rules.includes(rule) || fate === 'killed' || (fate === 'inconclusive' && verdict !== 'skip'),
    );
    const done: Progress = { key: keyOf(mutant), rows: told.map(rowOf) };
    this.#known.set(done.key, done.rows);
    appendFileSync(this.#file, `${JSON.stringify(done)}\n`);
    return outcomes;
  }
}

/** A line that was cut off when a run was stopped says nothing. */
function readProgress(line: string): Progress | undefined {
  try {
    return JSON.parse(line) as Progress;
  } catch {
    return undefined;
  }
}

function keyOf(mutant: Mutant): string {
  const described = JSON.stringify(mutant, (_name, value) => (typeof value === 'function' ? String(value) : value));
  return createHash('sha256').update(described).digest('hex');
}
