import { Problem, problem } from '../http/problem.js';
import type { Fault } from './fault.js';
import { parseFault, type WrittenFault } from './grammar.js';
import { codeOf, kindNameOf } from './kinds/index.js';
import { isObject, readFault } from './schema.js';

/** Members that a fault in words has in its text. */
const IN_WORDS = ['do', 'sequence', 'at', 'when'];

/** Reads a fault: its text, or as `readGivenFault` does. Throws `bad_request` that names the member. */
export function readWritten(value: unknown, where: string): WrittenFault {
  if (typeof value === 'string') return parseFault(value.trim(), where);
  const fault = readGivenFault(value, where);
  const [first] = [fault.do ?? fault.sequence ?? []].flat().filter((entry) => entry !== 'pass');
  const name = fault.id ?? (first && (codeOf(first) ?? kindNameOf(first))) ?? 'fault';
  return { text: JSON.stringify(value), name, fault };
}

/**
 * Reads a fault: in JSON; or in the words of the grammar, as `spec`, with members that these do not say. Throws
 * `bad_request` that names the member.
 */
export function readGivenFault(value: unknown, where: string): Fault {
  if (!isObject(value) || value.spec === undefined) return readFault(value, where);
  const { spec, ...rest } = value;
  if (typeof spec !== 'string')
    throw problem('bad_request', 'spec: has to be a fault as name[*times][+skip][@stage][;key=value].');
  const { fault } = parseFault(spec.trim(), 'spec');
  for (const name of Object.keys(rest)) {
    if (IN_WORDS.includes(name))
      throw problem('bad_request', `${name}: goes with a fault in JSON, and is part of spec otherwise.`);
    if (Object.hasOwn(fault, name)) throw problem('bad_request', `${name}: is said by spec already.`);
  }
  return readFault({ ...fault, ...rest }, where);
}

/** Calls `read`, and puts `where` before the detail of its errors. */
export function within<Value>(where: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem) || error.detail.startsWith(where)) throw error;
    throw problem('bad_request', `${where}.${error.detail}`);
  }
}
