import type { Rule } from '../../rules/rule.js';
import { type Judgement, judgementsOf, judgeNamed, rulesCalled } from './judge.js';
import { INERT_PATCH, INERT_PROXY, Lane } from './lane.js';
import { buildMutable, type MutableBuild } from './mutable-emulator.js';
import type { Mutant } from './mutant.js';

export interface MutantRun {
  /** How many emulators are judged side by side. */
  readonly lanes: number;
  /** What the rules made of a mutant, as soon as it is known. */
  readonly onJudged: (mutant: Mutant, judgements: readonly Judgement[]) => void;
  /** How a mutant is judged. Default: by the rules that are named for it. */
  readonly judge?: (lane: Lane, mutant: Mutant) => Promise<readonly Judgement[]>;
  /** What is run against the inert mutant, and so makes the fixtures. Default: the rules that mutants are named for. */
  readonly rules?: readonly Rule[];
}

/** What rules made of the emulator as it is, and of mutants that change nothing: they have to be kept. */
export interface Control {
  readonly judgements: readonly Judgement[];
  /** How often the code of the patch that changes nothing ran. */
  readonly met: number;
}

/** Judges every mutant. Throws where one is stale, or names a rule that does not exist. */
export async function runMutants(mutants: readonly Mutant[], run: MutantRun): Promise<Control> {
  const named = mutants.flatMap((mutant) => rulesCalled([...mutant.rules, ...(mutant.beside ?? [])], mutant));
  const rules = run.rules ?? [...new Set(named)];
  await using build = await buildMutable([INERT_PATCH, ...mutants]);
  const queue = mutants.values();
  const work = async (lane: Lane) => {
    for (const mutant of queue) run.onJudged(mutant, await (run.judge ?? judgeNamed)(lane, mutant));
  };
  const [first] = await Promise.all(
    Array.from({ length: run.lanes }, (_, index) => workLane(build, rules, index === 0, work)),
  );
  return first as Control;
}

async function workLane(
  build: MutableBuild,
  rules: readonly Rule[],
  isFirst: boolean,
  work: (lane: Lane) => Promise<void>,
): Promise<Control> {
  await using lane = await Lane.start(build);
  const judgements = judgementsOf(INERT_PATCH, await lane.prepare(rules));
  let met = 0;
  if (isFirst) {
    const patched = await lane.run(INERT_PATCH, rules);
    const proxied = await lane.run(INERT_PROXY, rules);
    judgements.push(...judgementsOf(INERT_PATCH, patched), ...judgementsOf(INERT_PROXY, proxied));
    met = patched.met;
  }
  await work(lane);
  return { judgements, met };
}
