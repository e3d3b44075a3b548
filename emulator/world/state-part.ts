/**
 * Part of the state that requests change. Its snapshot is an immutable value with everything that the part needs to
 * continue later. A snapshot of the whole state contains the values of all parts.
 */
export interface StatePart<Value> {
  snapshot(): Value;
  /** Replaces the part's state by a value that `snapshot` returned. */
  restore(value: Value): void;
}

/** Part of the state that consists of one immutable value. A change replaces the value, so a snapshot needs no copy. */
export class ValuePart<Value> implements StatePart<Value> {
  constructor(protected value: Value) {}

  snapshot(): Value {
    return this.value;
  }

  restore(value: Value): void {
    this.value = value;
  }
}
