/**
 * One part of what requests change and clients see. A snapshot of the world is made of what its parts give here, so a
 * part gives everything that it would need to go on from there; the value never changes afterwards.
 */
export interface StatePart<Value> {
  snapshot(): Value;
  /** Takes over a value that `snapshot` gave. */
  restore(value: Value): void;
}

/** A part that is one immutable value: a change puts another one in its place. */
export class ValuePart<Value> implements StatePart<Value> {
  constructor(protected value: Value) {}

  snapshot(): Value {
    return this.value;
  }

  restore(value: Value): void {
    this.value = value;
  }
}
