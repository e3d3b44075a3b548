/**
 * Part of the state that requests change. A snapshot of the state consists of the values of all parts. A value is
 * immutable and contains everything that the part needs to continue from it.
 */
export interface StatePart<Value> {
  snapshot(): Value;
  /** Replaces the current state of the part by a value that `snapshot` returned. */
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
