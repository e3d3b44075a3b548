/* What the admin API tells of faults; control.md of the specification binds the names. */

/** One operation of the service: `GET operations`. */
export interface Operation {
  readonly id: string;
  readonly group: string;
  readonly summary: string;
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  readonly scopes: readonly string[];
  readonly stages: readonly string[];
  readonly codes: readonly string[];
}

/** What a key of a fault can be. */
export interface FaultKey {
  readonly key: string;
  readonly wants: string;
  readonly needed: boolean;
  readonly type: 'integer' | 'number' | 'text' | 'choice';
  readonly least?: number;
  readonly most?: number;
  /** Allowed beside those of the type; of a choice all. */
  readonly values?: readonly string[];
  readonly longest?: number;
  readonly example: string;
  /** Where the fault can happen with the key: of a choice by its value. */
  readonly narrows: readonly { readonly value?: string; readonly stages: readonly string[] }[];
}

/** One name of the grammar: `GET fault-kinds`. */
export interface FaultKind {
  readonly name: string;
  readonly about: string;
  /** Of a code. */
  readonly status?: number;
  readonly keys: readonly FaultKey[];
  readonly one_of: readonly string[];
  readonly stages: readonly string[];
  /** By the id of an operation of Git, or `api`. */
  readonly defaults: Readonly<Record<string, string>>;
  readonly is_of_few: boolean;
}

/** What every fault can say beside its own keys. */
export interface Member {
  readonly key: string;
  readonly label: string;
  readonly hint?: string;
  readonly values?: readonly string[];
  /** What the name is that follows the key. */
  readonly name_of?: string;
  /** Operations that can have it; without it, all. */
  readonly operations?: readonly string[];
}

export interface FaultKinds {
  readonly stages: Readonly<Record<string, string>>;
  readonly items: readonly FaultKind[];
  readonly members: readonly Member[];
}

/** One way to ask for a fault: its text, or why it cannot say the fault. */
export interface FaultForm {
  readonly id: string;
  readonly title: string;
  readonly text?: string;
  readonly why?: string;
  readonly note?: string;
}

/** `POST faults/forms`, `GET faults/{id}/forms` */
export interface FaultForms {
  readonly fault: Fault;
  readonly forms: readonly FaultForm[];
}

export type Members = Readonly<Record<string, unknown>>;

/** A fault in JSON. */
export interface Fault {
  readonly id?: string;
  readonly note?: string;
  readonly priority?: number;
  readonly match?: Members;
  readonly when?: { readonly skip?: number; readonly times?: number } & Members;
  readonly at?: string;
  readonly do?: Members | readonly Members[];
  readonly sequence?: readonly unknown[];
  readonly expect?: Members;
  readonly ttl?: string;
}

/** What was set, and what has become of it. */
export interface FaultRecord extends Fault {
  readonly id: string;
  readonly source: 'registered' | 'in-band';
  /** In the words of the grammar, where they can say it. */
  readonly text?: string;
  readonly matched: number;
  readonly fired: number;
  readonly remaining: number | null;
  readonly skippedBecause: Readonly<Record<string, number>>;
  readonly requestIds: readonly string[];
}

/** The fault alone, without its id and what has become of it: what can be added once more. */
export function definitionOf({ note, priority, match, when, at, do: act, sequence, expect, ttl }: Fault): Fault {
  const members = { note, priority, match, when, at, do: act, sequence, expect, ttl };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The actions of a fault, those of a sequence among them. */
export function actionsOf({ do: act, sequence }: Fault): readonly Members[] {
  return [act ?? sequence ?? []].flat().filter((one) => typeof one === 'object' && one !== null) as Members[];
}

/** What holds requests until it is released, as long as something waits for it: `GET latches`. */
export interface Latch {
  readonly name: string;
  readonly waiting: number;
}
