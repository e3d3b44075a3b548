import type { Rule } from '../../rules/rule.js';
import { INERT_PATCH, INERT_PROXY, Lane } from './lane.js';
import { buildMutable, type MutableBuild } from './mutable-emulator.js';
import type { Mutant } from './mutant.js';
import { checkNamed, type Outcome, outcomesOf, rulesCalled } from './outcome.js';

export interface MutantRun {
  /** Number of emulators that run in parallel. Each checks one mutant at a time. */
  readonly lanes: number;
  /** Called after each mutant, with one outcome for each rule that checked it. */
  readonly onChecked: (mutant: Mutant, outcomes: readonly Outcome[]) => void;
  /** Checks one mutant. By default, it is checked with the rules that it names. */
  readonly check?: (lane: Lane, mutant: Mutant) => Promise<readonly Outcome[]>;
  /**
   * Rules that run on the correct server first, which creates their fixtures (shared repositories). By default, all
   * rules that the mutants name.
   */
  readonly rules?: readonly Rule[];
}

/**
 * Outcomes of the rules on the correct server. Each rule must pass on it. Otherwise, its failure on a mutant (wrong
 * server) proves nothing.
 */
export interface Control {
  readonly outcomes: readonly Outcome[];
  /**
   * Number of times that the code of `INERT_PATCH`, which changes nothing, ran. 0 means that patches cannot be switched
   * on.
   */
  readonly met: number;
}

/**
 * Checks each mutant (wrong server) with its rules. Returns the outcomes of these rules on the correct server. Throws
 * if a patch no longer fits the code, or if a rule does not exist.
 */
export async function runMutants(mutants: readonly Mutant[], run: MutantRun): Promise<Control> {
  const named = mutants.flatMap((mutant) => rulesCalled([...mutant.rules, ...(mutant.beside ?? [])], mutant));
  const rules = run.rules ?? [...new Set(named)];
  const throughProxy = new Set(mutants.flatMap(({ change, rules }) => ('proxy' in change ? rules : [])));
  await using build = await buildMutable([INERT_PATCH, ...mutants]);
  const queue = mutants.values();
  const work = async (lane: Lane) => {
    for (const mutant of queue) run.onChecked(mutant, await (run.check ?? checkNamed)(lane, mutant));
  };
  const [first] = await Promise.all(
    Array.from({ length: run.lanes }, (_, index) => workLane(build, rules, index === 0, throughProxy, work)),
  );
  return first as Control;
}

async function workLane(
  build: MutableBuild,
  rules: readonly Rule[],
  isFirst: boolean,
  throughProxy: ReadonlySet<string>,
  work: (lane: Lane) => Promise<void>,
): Promise<Control> {
  await using lane = await Lane.start(build);
  const prepared = await lane.prepare(rules);
  const outcomes = [...outcomesOf(INERT_PATCH, prepared)];
  if (isFirst) {
    const proxied = rules.filter(({ id }) => throughProxy.has(id));
    outcomes.push(...outcomesOf(INERT_PROXY, await lane.run(INERT_PROXY, proxied)));
  }
  await work(lane);
  return { outcomes, met: prepared.met };
}
