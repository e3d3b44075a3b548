import { writeJson } from '../faults/written.js';

/** What a step waits for, and what it changes then, in a line each. */
export interface StepText {
  readonly waits: string;
  readonly changes: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

/** `{ on: { push: 'main' }, repository: { state: 'syncing' } }` waits for `push main`, and changes `repository: state syncing`. */
export function stepText({ on, after, ...changes }: Members): StepText {
  const waits = [
    ...(on === undefined ? [] : [`a request with ${shortText(on)}`]),
    ...(after === undefined ? [] : [`${typeof after === 'number' ? `${after} ms` : shortText(after)} on the clock`]),
  ];
  return {
    waits: waits.length === 0 ? 'at once' : `after ${waits.join(', and ')}`,
    changes: Object.entries(changes).map(([name, value]) => `${name}: ${shortText(value)}`),
  };
}

/** A value of few members without its punctuation; JSON for what is deeper. */
export function shortText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return writeJson(value);
  return Object.entries(value)
    .map(([name, one]) => `${name} ${typeof one === 'object' ? writeJson(one) : String(one)}`)
    .join(', ');
}
