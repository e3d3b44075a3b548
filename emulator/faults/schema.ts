import { validateHeaderName, validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { checkShape } from '../http/body.js';
import { type ProblemCode, problemCodes, specifiedCode } from '../http/problem.js';
import { once } from '../memory/once.js';
import { parseDuration, parseTime } from '../time/iso-8601.js';
import { ACTIONS, kindOf } from './actions.js';
import type { Action, Fault } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import type { WrittenFault } from './grammar.js';
import { LATCH } from './names.js';
import { STAGES, type Stage } from './stage.js';

/** Headers that say where an answer ends: of a literal answer its bytes decide that. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Makes the schema of an object without other members. Its errors list the members. */
function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no member ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}; there are ${known}`
        : undefined,
  });
}

/** Most runs never read a fault as JSON, so its schemas are made when the first one comes. */
function createSchemas() {
  const text = z.string().min(1).max(FAULT_LIMITS.text);
  const line = text.regex(/^[^\p{Cc}]+$/u, 'Has to be one line without control characters');
  const count = z.int().min(0).max(1_000_000_000);
  const amount = z.int().min(1).max(1_000_000_000);
  const duration = text.refine(
    (value) => parseDuration(value) !== undefined,
    'Has to be an ISO 8601 duration, such as PT5S',
  );
  const instant = text.refine(
    (value) => (parseTime(value) ?? parseDuration(value)) !== undefined,
    'Has to be an ISO 8601 time, such as 2026-01-01T00:00:00Z, or a duration, such as PT5S',
  );
  const errorStatus = z.int().min(400).max(599);
  const retryAfter = z.union([z.int().min(0).max(1_000_000_000), z.enum(['http-date', 'omit', 'garbage'])], {
    error: 'Has to be seconds, http-date, omit or garbage',
  });
  const code = z.enum(problemCodes().map(({ code }) => code) as [ProblemCode, ...ProblemCode[]]);

  const matcher = z.union(
    [
      text,
      strict({ equals: z.unknown(), contains: text, glob: text, present: z.boolean() })
        .partial()
        .refine((value) => Object.keys(value).length > 0, 'Has to have one of equals, contains, glob, present'),
    ],
    { error: 'Has to be a text, or an object of equals, contains, glob, present' },
  );
  const matchers = z
    .record(text, matcher)
    .refine((value) => Object.keys(value).length <= 64, 'Has more than 64 members');

  const match = strict({
    op: z.union([text, z.array(text).min(1).max(100)], {
      error: 'Has to be the id of an operation, a glob, or a list of them',
    }),
    org: text,
    repo: text,
    token: strict({
      sub: z.string().max(FAULT_LIMITS.text),
      kid: text,
      alg: z.enum(['ES256', 'ES384', 'ES512', 'RS256']),
      scopes: strict({ has: z.array(text).max(64), lacks: z.array(text).max(64) }).partial(),
      claims: matchers,
    }).partial(),
    http: strict({ method: text, header: matchers, query: matchers, body: matchers }).partial(),
    git: strict({
      service: z.enum(['upload-pack', 'receive-pack']),
      phase: z.enum(['advertise', 'rpc']),
      protocol: z.union([z.literal(0), z.literal(1), z.literal(2)], { error: 'Has to be 0, 1 or 2' }),
      command: z.enum(['ls-refs', 'fetch', 'object-info']),
      ref: text,
    }).partial(),
    scenario: text,
  }).partial();

  const when = strict({
    skip: count,
    times: amount,
    every: amount,
    chance: z.number().gt(0).max(1),
    by: z.array(z.enum(['rule', 'token', 'repo', 'op', 'connection'])).min(1),
    from: instant,
    until: instant,
  }).partial();

  const headers = z.record(z.string(), z.string()).superRefine((value, context) => {
    for (const [name, field] of Object.entries(value)) {
      try {
        validateHeaderName(name);
        validateHeaderValue(name, field);
        if (!FRAMING.has(name.toLowerCase())) continue;
      } catch {
        // Told below.
      }
      context.addIssue({ code: 'custom', message: `${JSON.stringify(name)} is no header that can be set` });
    }
  });

  const cutPoint = strict({
    bytes: count,
    fraction: z.number().min(0).max(1),
    objects: count,
    beforeTrailer: z.literal(true),
  })
    .partial()
    .refine((value) => Object.keys(value).length === 1, 'Has to have one of bytes, fraction, objects, beforeTrailer');

  const latency = z.int().min(1).max(FAULT_LIMITS.latency);

  const action = strict({
    error: strict({ code, detail: line.optional(), retryAfter: retryAfter.optional(), t: count.optional() }),
    unknownCode: strict({
      status: errorStatus,
      code: z.string().regex(/^[a-z][a-z0-9_]{0,99}$/, 'Has to be lower-case letters, digits and _'),
      retryAfter: retryAfter.optional(),
    }),
    raw: strict({
      status: z.int().min(200).max(599),
      headers: headers.optional(),
      bodyBase64: z.base64().optional(),
    }),
    latency: strict({ ms: latency }),
    throttle: strict({ bps: amount }),
    hold: z.string().regex(LATCH, 'Has to be a name of letters, digits, _, . and -'),
    cut: strict({ at: cutPoint.optional(), how: z.enum(['fin', 'rst', 'stall', 'end']).optional() }),
    corrupt: strict({ flip: count, dropObject: count })
      .partial()
      .refine((value) => Object.keys(value).length <= 1, 'Has to have at most one of flip, dropObject'),
    sideband: strict({
      band: z.union([z.literal(2), z.literal(3)], { error: 'Has to be 2 or 3' }),
      text: line,
    }),
    flood: strict({ lines: z.int().min(1).max(FAULT_LIMITS.floodLines), text: line }).partial(),
    report: strict({ unpack: line, refs: z.record(line, line) })
      .partial()
      .refine((value) => Object.keys(value).length > 0, 'Has to have unpack or refs'),
    lostResponse: z.union([z.enum(['fin', 'rst']), strict({ status: errorStatus })], {
      error: 'Has to be fin, rst, or an object with a status',
    }),
  })
    .partial()
    .refine((value) => Object.keys(value).length === 1, `Has to have one of ${Object.keys(ACTIONS).join(', ')}`);
  const fault = strict({
    id: z
      .string()
      .regex(/^[\w.:-]{1,100}$/, 'Has to be a name of letters, digits, _, ., : and -')
      .optional(),
    note: text.optional(),
    priority: z.int().min(-1_000_000).max(1_000_000).optional(),
    match: match.optional(),
    when: when.optional(),
    at: z.enum(Object.keys(STAGES) as [Stage, ...Stage[]]).optional(),
    do: z.union([action, z.array(action).min(1).max(FAULT_LIMITS.actions)]).optional(),
    sequence: z
      .array(z.union([z.literal('pass'), action]))
      .min(1)
      .max(FAULT_LIMITS.actions)
      .optional(),
    expect: strict({
      fired: z.union(
        [
          count,
          strict({ min: count, max: count })
            .partial()
            .refine((value) => Object.keys(value).length > 0, 'Has to have min or max'),
        ],
        { error: 'Has to be a number, or an object of min and max' },
      ),
    }).optional(),
    ttl: duration.optional(),
  });
  return { action, fault };
}

const schemas = once(createSchemas);

/** The members of a fault in JSON. What a fault can do at all is checked by `compileFault`. */
export const faultSchema = once(() => z.lazy(() => schemas().fault));

const actionSchema = once(() => z.lazy(() => schemas().action));

/** Reads a fault from JSON. Throws `bad_request` that names the member and what is allowed. */
export function readFault(value: unknown, where: string): Fault {
  return checkShape(faultSchema(), expandOnce(withSpecifiedCodes(value)), where) as Fault;
}

/** A fault that a request asks for in JSON: its text is what it says. Throws `bad_request`. */
export function readWritten(value: unknown, where: string): WrittenFault {
  const fault = readFault(value, where);
  const [first] = [fault.do ?? fault.sequence ?? []].flat().filter((entry) => entry !== 'pass');
  const name = fault.id ?? (first && 'error' in first ? first.error.code : first && kindOf(first)) ?? 'fault';
  return { text: JSON.stringify(value), name, fault };
}

/** Codes may be written as a deployment shows them. */
function withSpecifiedCodes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSpecifiedCodes);
  if (!isObject(value)) return value;
  const { do: given, sequence, error } = value;
  return {
    ...value,
    ...(given !== undefined && { do: withSpecifiedCodes(given) }),
    ...(sequence !== undefined && { sequence: withSpecifiedCodes(sequence) }),
    ...(isObject(error) && typeof error.code === 'string' && { error: { ...error, code: specifiedCode(error.code) } }),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What in `do` and `sequence` cannot be read is told of the action itself, not of the union that it stands in. */
function expandOnce(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { do: given, sequence } = value as { do?: unknown; sequence?: unknown };
  for (const [name, list] of [
    ['do', given === undefined || Array.isArray(given) ? given : [given]],
    ['sequence', sequence],
  ] as const) {
    if (!Array.isArray(list)) continue;
    for (const [index, item] of list.slice(0, FAULT_LIMITS.actions).entries()) {
      if (name === 'sequence' && item === 'pass') continue;
      const at = name === 'do' && !Array.isArray(given) ? name : `${name}.${index}`;
      checkShape(z.object({ [at]: actionSchema() }) as z.ZodType<Readonly<Record<string, Action>>>, { [at]: item }, at);
    }
  }
  return value;
}
