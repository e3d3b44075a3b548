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

/** Stored result of checking one mutant (server with one deliberate mistake) with all rules. */
interface Progress {
  /** Hash of the mutant's definition. A result with another hash is out of date. */
  readonly key: string;
  readonly rows: readonly TableRow[];
}

/**
 * Results of a full run, in which every rule checks every mutant. They are stored in a file, one line of JSON per
 * mutant, so that a stopped run can be resumed.
 */
export class FullRun {
  readonly #file: string;
  readonly #known = new Map<string, readonly TableRow[]>();

  /** Opens the stored results. If `fresh` is true, the results of earlier runs are discarded. */
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

  /** Checks a mutant with every rule. Returns the outcome of each rule. */
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

/**
 * Parses one line of the stored results. Returns undefined if the line is incomplete, because a run was stopped while
 * writing it.
 */
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
