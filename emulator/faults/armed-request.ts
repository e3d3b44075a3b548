import type { Criterion } from './conditions.js';
import type { Action } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { type FaultPlan, type PlannedFault, planOf } from './fault-plan.js';
import { endsStage, kindOf } from './kinds/index.js';
import type { Latches } from './latches.js';
import type { Faults } from './registry.js';
import type { ChosenAction, GitFacts, RequestFacts, StageFacts } from './request-facts.js';
import type { Position } from './stage.js';
import type { FaultEntry } from './tally.js';

/** What was decided about a request: the actions that are still to come, or none. */
type Decision = readonly Action[];

const NOTHING: Decision = [];
const NONE: readonly ChosenAction[] = [];
const NO_TEXTS: readonly string[] = [];

/** Members of `match` that the head of a Git request does not tell. */
const OF_GIT_BODY: ReadonlySet<string> = new Set(['git.command', 'git.ref']);

/** The faults that may meet one request, and those that did. */
export type RequestFaults = Omit<ArmedRequest, 'add'>;

/** Of a request that no fault can meet. */
export const NO_FAULTS: RequestFaults = {
  isArmed: false,
  fired: NO_TEXTS,
  decisive: undefined,
  reasons: NO_TEXTS,
  ignored: NO_TEXTS,
  learn: () => {},
  end: () => {},
  needsBody: false,
  take: () => NONE,
  released: () => Promise.resolve(),
};

/**
 * The faults that may meet one request, each decided about once: at the first stage at which it would do something. Most
 * requests meet none of those of their operation, and are to cost little more than without them.
 */
export class ArmedRequest {
  /** The last fault that ended a stage; undefined while none has. */
  decisive: string | undefined = undefined;
  private ids: string[] | undefined = undefined;
  private told: string[] | undefined = undefined;
  private refused: string[] | undefined = undefined;
  /** Facts from the body of a Git request; undefined until it was read. */
  private git: GitFacts | undefined = undefined;
  /** In the order of the plan's entries. */
  private decisions: (Decision | undefined)[] = [];
  /** How many faults do nothing more. */
  private settled = 0;

  constructor(
    private readonly faults: Faults,
    private readonly latches: Latches,
    private readonly facts: RequestFacts,
    private plan: FaultPlan,
  ) {}

  /** Further faults, which the request turned out to ask for; those for other operations only ride along. */
  add(entries: readonly FaultEntry[]): void {
    const before = this.plan.entries;
    this.plan = planOf([...before, ...entries], this.facts.operation);
    this.decisions = this.plan.entries.map((entry) => this.decisions[before.indexOf(entry)]);
  }

  /** False for almost every request, also once no fault can meet it any more: then nothing else needs to be asked. */
  get isArmed(): boolean {
    return this.settled < this.plan.meeting || (this.ids !== undefined && this.ids.length > 0);
  }

  /** Ids of the faults that touched the request, in order. */
  get fired(): readonly string[] {
    // The journal keeps this list: it may grow while the answer is sent.
    if (this.isArmed) this.ids ??= [];
    return this.ids ?? NO_TEXTS;
  }

  /** Why faults that nearly met the request did not, a sentence each. */
  get reasons(): readonly string[] {
    return this.told ?? NO_TEXTS;
  }

  /** Reasons that concern faults which the request itself asked for. Faults held back by their counters are left out. */
  get ignored(): readonly string[] {
    return this.refused ?? NO_TEXTS;
  }

  /** Whether a fault asks what the JSON body says. */
  get needsBody(): boolean {
    return this.plan.needsBody;
  }

  /** Records facts from the body of a Git request. They are known at this and all later stages. */
  learn(git: GitFacts): void {
    this.git = git;
  }

  /**
   * What happens at a stage: chosen in one step, each counter taken at once, before anything waits. At most one of the
   * actions ends the stage (an error, a raw answer, a cut, a lost answer); delays come before it in the list.
   */
  take(position: Position): readonly ChosenAction[] {
    const planned = this.plan.at.get(position);
    return planned ? this.choose(planned, { request: this.facts, git: this.git }) : NONE;
  }

  /** Adds a reason for each fault that the request asked for and whose stage it did not reach. */
  end(): void {
    // A Git client asks for its fault with every request of a conversation, and only one of them reaches the stage.
    if (this.facts.operation.group === 'Git') return;
    for (const [position, planned] of this.plan.at) {
      for (const fault of planned) {
        const { text, compiled } = fault.entry;
        // A fault with `skip` might have let this request pass.
        if (text === undefined || compiled.skip > 0 || this.decisions[fault.index] !== undefined) continue;
        this.decisions[fault.index] = NOTHING;
        this.tell(fault, `the request did not come to ${position}`, false);
      }
    }
  }

  /** Resolves when the latch is released, or the client has gone. */
  released(latch: string, signal: AbortSignal): Promise<void> {
    return this.latches.hold(latch, signal);
  }

  private choose(planned: readonly PlannedFault[], facts: StageFacts): readonly ChosenAction[] {
    let before: ChosenAction[] | undefined;
    let last: ChosenAction | undefined;
    for (const fault of planned) {
      const { entry, actions } = fault;
      const decision = this.decisions[fault.index] ?? this.decide(fault, facts, last);
      if (!decision || decision.length === 0) continue;
      const due = decision.filter((action) => actions.has(action));
      if (due.length === 0) continue;
      this.settle(
        fault,
        decision.filter((action) => !actions.has(action)),
      );
      for (const action of due) {
        const chosen = { id: entry.id, action };
        if (endsStage(action)) last ??= chosen;
        else before = [...(before ?? NONE), chosen];
      }
    }
    if (before === undefined && last === undefined) return NONE;
    const all = [...(before ?? NONE), ...(last ? [last] : NONE)];
    for (const { id } of all) this.note(id);
    this.decisive = last?.id ?? this.decisive;
    return all;
  }

  /** Undefined: nothing is decided here, but may be at a later stage. */
  private decide(fault: PlannedFault, facts: StageFacts, last: ChosenAction | undefined): Decision | undefined {
    const { entry, actions, ends, stateCode } = fault;
    const { compiled, tally } = entry;
    if (compiled.expires !== Number.POSITIVE_INFINITY && compiled.expires <= this.faults.now) {
      return this.settle(fault, NOTHING);
    }
    let failing = 0;
    let failed: Criterion | undefined;
    for (const criterion of compiled.criteria) {
      if (criterion.holds(facts)) continue;
      if (facts.git === undefined && OF_GIT_BODY.has(criterion.member)) return undefined;
      failing += 1;
      failed = criterion;
    }
    if (failed !== undefined) return this.refrain(fault, failing === 1 ? failed.tell(facts) : undefined);
    if (stateCode !== undefined && this.facts.stateRefusal(stateCode) === undefined) {
      return this.refrain(fault, `the state does not stand in the way of ${this.facts.operation.id}`);
    }
    if (facts.git?.refs && [...actions].every((action) => isForOtherRefs(action, facts.git!.refs!))) {
      return this.refrain(fault, 'the push names no ref that it refuses');
    }
    if (last && ends) {
      tally.matched += 1;
      tally.skip('priority', '');
      return this.refrain(fault, `${last.id} was first`);
    }
    const { now, seed } = this.faults;
    const verdict = tally.decide(compiled, this.faults.countersOf(entry), this.keyOf(entry), { now, seed });
    if ('reason' in verdict) return this.refrain(fault, verdict.why, true);
    const chosen = compiled.entries[verdict.entry]!;
    if (chosen !== 'pass') return this.settle(fault, chosen);
    return this.refrain(fault, 'its sequence lets this one pass', true);
  }

  private refrain(fault: PlannedFault, why: string | undefined, isCounted = false): Decision {
    this.tell(fault, why, isCounted);
    return this.settle(fault, NOTHING);
  }

  private tell({ entry, refusal }: PlannedFault, why: string | undefined, isCounted: boolean): void {
    if (why !== undefined && this.reasons.length < FAULT_LIMITS.reasons) {
      this.told ??= [];
      this.told.push(refusal.for(why));
    }
    if (entry.text === undefined || isCounted || this.ignored.length === FAULT_LIMITS.reasons) return;
    this.refused ??= [];
    this.refused.push(refusal.for(why ?? 'the request is not what its match asks for'));
  }

  private settle({ index }: PlannedFault, decision: Decision): Decision {
    if (decision.length === 0 && this.decisions[index]?.length !== 0) this.settled += 1;
    this.decisions[index] = decision;
    return decision;
  }

  private note(id: string): void {
    this.ids ??= [];
    if (this.ids.includes(id)) return;
    this.ids.push(id);
    this.plan.entries.find((entry) => entry.id === id)!.tally.fire(this.facts.id);
  }

  /** The key of the counter that counts this request. */
  private keyOf({ id, text, compiled }: FaultEntry): string {
    const { organizationName, repositoryName = '', verified, operation, connection, scenario = '' } = this.facts;
    const sub = verified?.claims.sub ?? '';
    if (text !== undefined) return `${id}\0${organizationName}\0${repositoryName}\0${sub}\0${scenario}`;
    const parts = {
      rule: '',
      token: `${organizationName}\0${sub}`,
      repo: `${organizationName}\0${repositoryName}`,
      op: operation.id,
      connection,
    };
    return `${id}\0${compiled.by.map((part) => parts[part]).join('\0')}`;
  }
}

function isForOtherRefs(action: Action, pushed: readonly string[]): boolean {
  const { kind, value } = kindOf(action);
  return kind.isForOtherRefs?.(value, pushed) ?? false;
}
