import { ACTIONS, kindOf } from './actions.js';
import { actionsOf, isFor, positionOf } from './compiled-fault.js';
import type { Action } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import type { Latches } from './latches.js';
import { isStateCode } from './names.js';
import type { FaultEntry, Faults } from './registry.js';
import type { RequestFacts, StageFacts } from './request-facts.js';
import type { ChosenAction, GitFacts, RequestFaults } from './request-faults.js';
import type { Position } from './stage.js';

/** What was decided about a request: the actions that are still to come, or none. */
type Decision = readonly Action[];

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
  private entries: readonly FaultEntry[] = [];
  private readonly decisions = new Map<FaultEntry, Decision>();

  constructor(
    private readonly faults: Faults,
    private readonly latches: Latches,
    private readonly facts: RequestFacts,
    entries: readonly FaultEntry[],
  ) {
    this.add(entries);
  }

  /** Further faults, which the request turned out to ask for; those for other operations only ride along. */
  add(entries: readonly FaultEntry[]): void {
    const mine = entries.filter(({ compiled }) => isFor(compiled, this.facts.operation));
    const all = [...new Set([...this.entries, ...mine])];
    this.entries = all.sort((a, b) => b.compiled.priority - a.compiled.priority || a.order - b.order);
  }

  get needsBody(): boolean {
    return this.entries.some(({ compiled }) => compiled.criteria.some(({ member }) => member === 'http.body'));
  }

  take(position: Position, git?: GitFacts): readonly ChosenAction[] {
    const before: ChosenAction[] = [];
    let last: ChosenAction | undefined;
    for (const entry of this.entries) {
      const decision = this.decisions.get(entry) ?? this.decide(entry, position, { request: this.facts, git }, last);
      if (!decision || decision.length === 0) continue;
      const due = decision.filter((action) => this.isAt(entry, action, position));
      if (due.length === 0) continue;
      this.decisions.set(
        entry,
        decision.filter((action) => !due.includes(action)),
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

  released(latch: string, signal: AbortSignal): Promise<void> {
    return this.latches.hold(latch, signal);
  }

  /** Undefined: nothing is decided here, but may be at a later stage. */
  private decide(
    entry: FaultEntry,
    position: Position,
    facts: StageFacts,
    last: ChosenAction | undefined,
  ): Decision | undefined {
    const { compiled, tally } = entry;
    const here = actionsOf(compiled).filter((action) => this.isAt(entry, action, position));
    if (here.length === 0) return undefined;
    if (compiled.expires <= this.faults.now) return this.settle(entry, []);
    const failing = compiled.criteria.filter(({ holds }) => !holds(facts));
    if (failing.length > 0) {
      const isOpen = facts.git === undefined && failing.some(({ member }) => /^git\.(command|ref)$/.test(member));
      if (isOpen) return undefined;
      return this.refrain(entry, failing.length === 1 ? failing[0]!.tell(facts) : undefined);
    }
    const state = here.find((action) => 'error' in action && isStateCode(action.error.code));
    if (state && 'error' in state && !this.facts.isInTheWay(state.error.code)) {
      return this.refrain(entry, `the state does not stand in the way of ${this.facts.operation.id}`);
    }
    if (here.every((action) => isForOtherRefs(action, facts.git?.refs))) {
      return this.refrain(entry, 'the push names no ref that it refuses');
    }
    if (last && here.some((action) => ACTIONS[kindOf(action)].endsStage(action))) {
      tally.matched += 1;
      tally.skip('priority', '');
      return this.refrain(entry, `${last.id} was first`);
    }
    const verdict = tally.decide(compiled, this.faults.countersOf(entry), this.keyOf(entry), this.faults);
    if ('reason' in verdict) return this.refrain(entry, verdict.why);
    const chosen = compiled.entries[verdict.entry]!;
    return chosen === 'pass' ? this.refrain(entry, 'its sequence lets this one pass') : this.settle(entry, chosen);
  }

  private refrain(entry: FaultEntry, why: string | undefined): Decision {
    if (why !== undefined && this.reasons.length < FAULT_LIMITS.reasons) {
      this.reasons.push(`${entry.id} did not fire: ${why}`);
    }
    return this.settle(entry, []);
  }

  private settle(entry: FaultEntry, decision: Decision): Decision {
    this.decisions.set(entry, decision);
    return decision;
  }

  private isAt({ compiled }: FaultEntry, action: Action, position: Position): boolean {
    return positionOf(action, compiled, this.facts.operation) === position;
  }

  private note(id: string): void {
    if (this.fired.includes(id)) return;
    this.fired.push(id);
    this.entries.find((entry) => entry.id === id)!.tally.fire(this.facts.id);
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

/** Whether a report is to refuse refs, none of which is pushed. */
function isForOtherRefs(action: Action, pushed: readonly string[] | undefined): boolean {
  if (pushed === undefined || !('report' in action) || action.report.unpack !== undefined) return false;
  return Object.keys(action.report.refs ?? {}).every((ref) => ref !== '*' && !pushed.includes(ref));
}
