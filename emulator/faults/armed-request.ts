import { ACTIONS, kindOf } from './actions.js';
import type { Action } from './fault.js';
import type { FaultEntry } from './fault-entry.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { type FaultPlan, type PlannedFault, planOf } from './fault-plan.js';
import type { Latches } from './latches.js';
import type { Faults } from './registry.js';
import type { RequestFacts, StageFacts } from './request-facts.js';
import type { ChosenAction, GitFacts, RequestFaults } from './request-faults.js';
import type { Position } from './stage.js';

/** What was decided about a request: the actions that are still to come, or none. */
type Decision = readonly Action[];

const NOTHING: Decision = [];
const NONE: readonly ChosenAction[] = [];

/** Of a request that no fault can meet. */
export const NO_FAULTS: RequestFaults = {
  isArmed: false,
  fired: [],
  decisive: undefined,
  reasons: [],
  needsBody: false,
  take: () => NONE,
  released: () => Promise.resolve(),
};

/** The faults that may meet one request, each decided about once: at the first stage at which it would do something. */
export class ArmedRequest implements RequestFaults {
  readonly isArmed = true;
  readonly fired: string[] = [];
  readonly reasons: string[] = [];
  decisive: string | undefined = undefined;
  private readonly decisions = new Map<FaultEntry, Decision>();

  constructor(
    private readonly faults: Faults,
    private readonly latches: Latches,
    private readonly facts: RequestFacts,
    private plan: FaultPlan,
  ) {}

  /** Further faults, which the request turned out to ask for; those for other operations only ride along. */
  add(entries: readonly FaultEntry[]): void {
    this.plan = planOf([...this.plan.entries, ...entries], this.facts.operation);
  }

  get needsBody(): boolean {
    return this.plan.needsBody;
  }

  take(position: Position, git?: GitFacts): readonly ChosenAction[] {
    const planned = this.plan.at.get(position);
    return planned ? this.choose(planned, { request: this.facts, git }) : NONE;
  }

  released(latch: string, signal: AbortSignal): Promise<void> {
    return this.latches.hold(latch, signal);
  }

  private choose(planned: readonly PlannedFault[], facts: StageFacts): readonly ChosenAction[] {
    const before: ChosenAction[] = [];
    let last: ChosenAction | undefined;
    for (const fault of planned) {
      const { entry, actions } = fault;
      const decision = this.decisions.get(entry) ?? this.decide(fault, facts, last);
      if (!decision || decision.length === 0) continue;
      const due = decision.filter((action) => actions.has(action));
      if (due.length === 0) continue;
      this.settle(
        entry,
        decision.filter((action) => !actions.has(action)),
      );
      for (const action of due) {
        const chosen = { id: entry.id, action };
        if (!ACTIONS[kindOf(action)].endsStage(action)) before.push(chosen);
        else last ??= chosen;
      }
    }
    const all = last ? [...before, last] : before;
    for (const { id } of all) this.note(id);
    this.decisive = last?.id ?? this.decisive;
    return all;
  }

  /** Undefined: nothing is decided here, but may be at a later stage. */
  private decide(
    { entry, ends, stateCode }: PlannedFault,
    facts: StageFacts,
    last: ChosenAction | undefined,
  ): Decision | undefined {
    const { compiled, tally } = entry;
    const { now, seed } = this.faults;
    if (compiled.expires <= now) return this.settle(entry, NOTHING);
    const failing = compiled.criteria.filter(({ holds }) => !holds(facts));
    if (failing.length > 0) {
      const isOpen = facts.git === undefined && failing.some(({ member }) => /^git\.(command|ref)$/.test(member));
      if (isOpen) return undefined;
      return this.refrain(entry, failing.length === 1 ? failing[0]!.tell(facts) : undefined);
    }
    if (stateCode !== undefined && !this.facts.isInTheWay(stateCode)) {
      return this.refrain(entry, `the state does not stand in the way of ${this.facts.operation.id}`);
    }
    if (last && ends) {
      tally.matched += 1;
      tally.skip('priority', '');
      return this.refrain(entry, `${last.id} was first`);
    }
    const verdict = tally.decide(compiled, this.faults.countersOf(entry), this.keyOf(entry), { now, seed });
    if ('reason' in verdict) return this.refrain(entry, verdict.why);
    const chosen = compiled.entries[verdict.entry]!;
    return chosen === 'pass' ? this.refrain(entry, 'its sequence lets this one pass') : this.settle(entry, chosen);
  }

  private refrain(entry: FaultEntry, why: string | undefined): Decision {
    if (why !== undefined && this.reasons.length < FAULT_LIMITS.reasons) {
      this.reasons.push(`${entry.id} did not fire: ${why}`);
    }
    return this.settle(entry, NOTHING);
  }

  private settle(entry: FaultEntry, decision: Decision): Decision {
    this.decisions.set(entry, decision);
    return decision;
  }

  private note(id: string): void {
    if (this.fired.includes(id)) return;
    this.fired.push(id);
    this.plan.entries.find((entry) => entry.id === id)!.tally.fire(this.facts.id);
  }

  /** The key of the counter that counts this request. */
  private keyOf({ id, text, compiled }: FaultEntry): string {
    const { organization, repository = '', token, operation, connection, scenario = '' } = this.facts;
    const sub = token?.sub ?? '';
    if (text !== undefined) return `${id}\0${organization}\0${repository}\0${sub}\0${scenario}`;
    const parts = {
      rule: '',
      token: `${organization}\0${sub}`,
      repo: `${organization}\0${repository}`,
      op: operation.id,
      connection,
    };
    return `${id}\0${compiled.by.map((part) => parts[part]).join('\0')}`;
  }
}
