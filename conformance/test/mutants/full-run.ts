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

/** Stored outcomes of one mutant (server with one deliberate mistake), which was checked with all rules. */
interface Progress {
  /** Hash of the mutant's definition. If the hash differs from the current one, the result is outdated. */
  readonly key: string;
  readonly rows: readonly TableRow[];
}

/**
 * Stored results of a full run, which checks each mutant with each rule. The file has one JSON line per mutant, so that
 * a stopped run can be resumed.
 */
export class FullRun {
  readonly #file: string;
  readonly #known = new Map<string, readonly TableRow[]>();

  /** Opens the stored results. Discards the results of earlier runs if `fresh` is true. */
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

  /**
   * Checks a mutant with every rule, and returns one outcome per rule. A mutant is a server with one deliberate
   * mistake.
   */
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
 * Parses one line of the stored results. Returns undefined if the line is incomplete because a run was stopped while it
 * wrote the line.
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
