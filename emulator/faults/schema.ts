import { z } from 'zod';
import { checkShape } from '../http/body.js';
import { isObject, type Members } from '../http/json-reader.js';
import { Problem, problem, specifiedCode } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import type { Fault } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { parseFault, type WrittenFault } from './grammar.js';
import { strict } from './key.js';
import { codeOf, KINDS, kindNameOf } from './kinds/index.js';
import { type Kind, schemaOf } from './kinds/kind.js';
import { schemasBelow } from './members.js';
import { STAGES, type Stage } from './stage.js';

/**
 * Schema of an action: an object with exactly one member, whose name is the kind of fault, such as `{"cut": {}}`.
 * Created on first use.
 */
const actionSchema = lazy(() =>
  strict(Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [name, schemaOf(kind as Kind)])))
    .partial()
    .refine((value) => Object.keys(value).length === 1, `Must have one of ${Object.keys(KINDS).join(', ')}`),
);

/** Schema of a fault in JSON. It checks types only; `compileFault` checks whether the fault can fire. */
export const faultSchema = lazy(
  (): z.ZodType =>
    z.lazy(() => {
      const { expect, ttl, ...first } = schemasBelow('');
      return strict({
        ...first,
        at: z.enum(Object.keys(STAGES) as [Stage, ...Stage[]]),
        do: z.union([actionSchema(), z.array(actionSchema()).min(1).max(FAULT_LIMITS.actions)]),
        sequence: z
          .array(z.union([z.literal('pass'), actionSchema()]))
          .min(1)
          .max(FAULT_LIMITS.actions),
        expect: expect!,
        ttl: ttl!,
      }).partial();
    }),
);

/**
 * Validates a fault in JSON. Throws `bad_request`, which names the invalid member and its valid values. `where` names
 * the fault in this message.
 */
export function readFault(value: unknown, where: string): Fault {
  return checkShape(faultSchema(), isObject(value) ? withActionsRead(value) : value, where) as Fault;
}

/**
 * Validates each action separately before the whole fault. The schema of a fault has a union of single actions and
 * lists, and errors of a union would not name the invalid member.
 */
function withActionsRead(fault: Members): Members {
  const { do: given, sequence } = fault;
  return {
    ...fault,
    ...(given !== undefined && {
      do: Array.isArray(given) ? given.slice(0, MAX_READ).map(readAction('do')) : readAction('do')(given),
    }),
    ...(Array.isArray(sequence) && { sequence: sequence.slice(0, MAX_READ).map(readAction('sequence')) }),
  };
}

/**
 * Maximum number of actions that are validated separately. It is one more than the allowed number, so that the schema
 * still reports too many actions.
 */
const MAX_READ = FAULT_LIMITS.actions + 1;

function readAction(member: 'do' | 'sequence') {
  return (value: unknown, index?: number): unknown => {
    if (member === 'sequence' && value === 'pass') return value;
    const at = index === undefined ? member : `${member}.${index}`;
    return checkShape(z.object({ [at]: actionSchema() }), { [at]: withPresentNames(value) }, at)[at];
  };
}

/** Maps the names of fault kinds in JSON until version 0.1 to the current names. */
const FORMER: ReadonlyMap<string, string> = new Map(
  Object.entries(KINDS).flatMap(([name, { formerly }]) => (formerly === undefined ? [] : [[formerly, name]])),
);

/**
 * Replaces former names of fault kinds by their current names. Also replaces error codes with a deployment's configured
 * prefix by the codes of the specification.
 */
function withPresentNames(action: unknown): unknown {
  if (!isObject(action)) return action;
  return Object.fromEntries(
    Object.entries(action).map(([name, value]) => {
      if (!isObject(value)) return [FORMER.get(name) ?? name, value];
      if (name === 'error' && typeof value.code === 'string') {
        return [name, { ...value, code: specifiedCode(value.code) }];
      }
      const { dropObject, ...others } = value;
      const isDropped = name === 'corrupt' && dropObject !== undefined && Object.keys(others).length === 0;
      return isDropped ? ['drop_object', { bytes: dropObject }] : [FORMER.get(name) ?? name, value];
    }),
  );
}

/** Members that are not allowed together with `spec`, because the text form in `spec` already contains them. */
const IN_WORDS = ['do', 'sequence', 'at', 'when'];

/**
 * Parses a fault from a string (text form) or an object (see `readGivenFault`). Throws `bad_request`, which names the
 * invalid member.
 */
export function readWritten(value: unknown, where: string): WrittenFault {
  if (typeof value === 'string') return parseFault(value.trim(), where);
  const fault = readGivenFault(value, where);
  const [first] = [fault.do ?? fault.sequence ?? []].flat().filter((entry) => entry !== 'pass');
  const name = fault.id ?? (first && (codeOf(first) ?? kindNameOf(first))) ?? 'fault';
  return { text: JSON.stringify(value), name, fault };
}

/**
 * Parses a fault from an object. The object is the JSON form, or has the text form in the member `spec` and other
 * members in addition. Throws `bad_request`, which names the invalid member.
 */
export function readGivenFault(value: unknown, where: string): Fault {
  if (!isObject(value) || value.spec === undefined) return readFault(value, where);
  const { spec, ...rest } = value;
  if (typeof spec !== 'string')
    throw problem(
      'bad_request',
      'spec must be a fault in the form name[*times][+skip][@stage][;key=value], such as rate_limited*2.',
    );
  const { fault } = parseFault(spec.trim(), 'spec');
  for (const name of Object.keys(rest)) {
    if (IN_WORDS.includes(name))
      throw problem(
        'bad_request',
        `${name} is not allowed together with spec, which already is the complete fault in text form.`,
      );
    if (Object.hasOwn(fault, name))
      throw problem('bad_request', `${name} is not allowed, because the text in spec sets it already.`);
  }
  return readFault({ ...fault, ...rest }, where);
}

/**
 * Calls `read` and returns its result. If `read` throws a `bad_request`, prepends `where` to its message, so that the
 * message contains the whole path of the invalid member.
 */
export function within<Value>(where: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem) || error.detail.startsWith(where)) throw error;
    throw problem('bad_request', `${where}.${error.detail}`);
  }
}
