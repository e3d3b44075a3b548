import type { Rule } from '../../rules/rule.js';
import { INERT_PATCH, INERT_PROXY, Lane } from './lane.js';
import { buildMutable, type MutableBuild } from './mutable-emulator.js';
import type { Mutant } from './mutant.js';
import { checkNamed, type Outcome, outcomesOf, rulesCalled } from './outcome.js';

export interface MutantRun {
  /** How many emulators are checked side by side. */
  readonly lanes: number;
  /** What the rules made of a mutant, as soon as it is known. */
  readonly onChecked: (mutant: Mutant, outcomes: readonly Outcome[]) => void;
  /** How a mutant is checked. Default: by the rules that are named for it. */
  readonly check?: (lane: Lane, mutant: Mutant) => Promise<readonly Outcome[]>;
  /** What is run against the inert mutant, and so makes the fixtures. Default: the rules that mutants are named for. */
  readonly rules?: readonly Rule[];
}

/** What rules made of mutants that change nothing: they have to be kept. */
export interface Control {
  readonly outcomes: readonly Outcome[];
  /** How often the code of the patch that changes nothing ran. */
  readonly met: number;
}

/** Checks every mutant. Throws where one is stale, or names a rule that does not exist. */
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
