/**
 * Part of the state that requests change. A snapshot of the world consists of the values of its parts. The value is
 * immutable and contains everything that the part needs to continue.
 */
export interface StatePart<Value> {
  snapshot(): Value;
  /** Restores a value of `snapshot`. */
  restore(value: Value): void;
}

/** Part that consists of one immutable value, which changes replace. */
export class ValuePart<Value> implements StatePart<Value> {
  constructor(protected value: Value) {}

  snapshot(): Value {
    return this.value;
  }

  restore(value: Value): void {
    this.value = value;
  }
}
