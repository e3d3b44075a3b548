import type { Rule } from '../../rules/rule.js';
import { type Judgement, judgementsOf, judgeNamed, rulesCalled } from './judge.js';
import { INERT, Lane } from './lane.js';
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

/** What became of the mutant that changes nothing: it has to survive. */
export interface Control {
  readonly judgements: readonly Judgement[];
  readonly met: number;
}

/** Judges every mutant. Throws where one is stale, or names a rule that does not exist. */
export async function runMutants(mutants: readonly Mutant[], run: MutantRun): Promise<Control> {
  const named = mutants.flatMap((mutant) => rulesCalled([...mutant.rules, ...(mutant.beside ?? [])], mutant));
  const rules = run.rules ?? [...new Set(named)];
  await using build = await buildMutable([INERT, ...mutants]);
  const queue = mutants.values();
  const controls = await Promise.all(Array.from({ length: run.lanes }, () => workLane(build, rules, queue, run)));
  return controls[0] as Control;
}

async function workLane(
  build: MutableBuild,
  rules: readonly Rule[],
  queue: Iterator<Mutant> & Iterable<Mutant>,
  { judge = judgeNamed, onJudged }: MutantRun,
): Promise<Control> {
  await using lane = await Lane.start(build);
  const inert = await lane.prepare(rules);
  for (const mutant of queue) onJudged(mutant, await judge(lane, mutant));
  return { judgements: judgementsOf(INERT, inert), met: inert.met };
}
