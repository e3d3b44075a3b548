import { problem, specifiedCode } from '../http/problem.js';
import type { Fault, When } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { FAULT_NAMES, type FaultName } from './names.js';
import { STAGES, type Stage } from './stage.js';

/** A fault as it was written, and what it means. */
export interface WrittenFault {
  readonly text: string;
  /** The name it begins with: in band its id. */
  readonly name: string;
  readonly fault: Fault;
}

const FAULT = /^([a-z0-9_]+)(?::([a-z0-9_]+))?(?:\*(\d{1,9}))?(?:\+(\d{1,9}))?(?:@([a-z.]+))?((?:;[^;]*)*)$/;
const FORM = 'name[*times][+skip][@stage][;key=value]';

/**
 * Parses faults, separated by commas:
 *
 *     name[*times][+skip][@stage][;key=value]…
 *
 * A value may have characters percent-encoded, such as `%2C` for a comma. `code:NAME` is `NAME`. Throws `bad_request`
 * that names `where` the faults stand, and what is wrong.
 */
export function parseFaults(value: string, where: string): WrittenFault[] {
  const texts = value.split(',').map((text) => text.trim());
  if (texts.length > FAULT_LIMITS.perRequest) {
    throw problem('bad_request', `${where}: at most ${FAULT_LIMITS.perRequest} faults can be asked for at a time.`);
  }
  return texts.map((text) => parseFault(text, where));
}

/** Parses one fault. */
export function parseFault(text: string, where: string): WrittenFault {
  const refuse = (detail: string) => problem('bad_request', `${where}: ${detail}`);
  const match = FAULT.exec(text);
  if (!match) throw refuse(`${JSON.stringify(text.slice(0, 200))} is not ${FORM}.`);
  const [, first, second, times, skip, stage, keys] = match as unknown as [string, string, ...(string | undefined)[]];
  if (second !== undefined && first !== 'code') throw refuse(`${first}:${second} is none; only code has a colon.`);
  const name = second ?? first;
  const row = FAULT_NAMES.get(specifiedCode(name));
  if (!row || (second !== undefined && !('retry-after' in row.keys && name !== 'code'))) {
    throw refuse(`there is no fault ${name}; there are ${[...FAULT_NAMES.keys()].join(', ')}.`);
  }
  if (stage !== undefined && !Object.hasOwn(STAGES, stage)) {
    throw refuse(`there is no stage ${stage}; there are ${Object.keys(STAGES).join(', ')}.`);
  }
  if (times !== undefined && Number(times) === 0) throw refuse(`${name}*0 never fires; times is at least 1.`);
  const when: When = {
    ...(skip !== undefined && { skip: Number(skip) }),
    ...(times !== undefined && { times: Number(times) }),
  };
  const fault: Fault = {
    ...(Object.keys(when).length > 0 && { when }),
    ...(stage !== undefined && { at: stage as Stage }),
    do: row.action(readKeys(name, row, keys ?? '', refuse)),
  };
  return { text, name, fault };
}

function readKeys(
  name: string,
  { keys, needs = [], oneOf = [] }: FaultName,
  text: string,
  refuse: (detail: string) => Error,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const pair of text.split(';').filter((part) => part !== '')) {
    const equals = pair.indexOf('=');
    const key = equals < 0 ? pair : pair.slice(0, equals);
    const row = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (!row) {
      const known = Object.keys(keys);
      throw refuse(
        `${name} has no key ${JSON.stringify(key)}; ${known.length > 0 ? `it has ${known.join(', ')}` : 'it has none'}.`,
      );
    }
    if (Object.hasOwn(values, key)) throw refuse(`${name} has the key ${key} twice.`);
    const value = equals < 0 ? undefined : decode(pair.slice(equals + 1));
    values[key] = value === undefined ? undefined : row.read(value);
    if (values[key] === undefined) throw refuse(`${key} of ${name} has to be ${row.wants}.`);
  }
  const missing = needs.find((key) => !Object.hasOwn(values, key));
  if (missing !== undefined) throw refuse(`${name} needs ${missing}=, ${keys[missing]!.wants}.`);
  const points = oneOf.filter((key) => Object.hasOwn(values, key));
  if (points.length > 1) throw refuse(`${name} takes one of ${oneOf.join(', ')}, not ${points.join(' and ')}.`);
  return values;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
