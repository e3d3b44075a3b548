/** Passage in which the specification contradicts itself or is silent, so that services may behave differently. */
export interface Ambiguity {
  readonly title: string;
  /** Statements of the specification about the subject, in our own words. Each names its section in quotation marks. */
  readonly texts: readonly string[];
  /** Default behaviour of the emulator where the specification is ambiguous. */
  readonly emulator: string;
  /** Names of the switches of `emulator start --variants` that change this behaviour. */
  readonly variants: readonly string[];
  /**
   * Ids of the conformance rules that accept more than one response because of the ambiguity, or record the behaviour
   * of the target.
   */
  readonly rules: readonly string[];
}
