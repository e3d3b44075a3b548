import { z } from 'zod';
import { GIT_CLIENTS } from '../target/git-clients.js';
import { parseJson } from '../target/json.js';
import { InvalidFile } from '../target/text-file.js';
import { MAX_DEPTH } from '../target/yaml.js';
import { PROFILES } from './profiles.js';
import { FORMAT, type Report, VERDICTS } from './results.js';

/** Returns the schema of an object that may have unknown members. A later version of the suite may add members. */
const members = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape);

const count = z.int().min(0);

const recipe = members({
  repo: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  lifetime: z.number().optional(),
  claims: z.record(z.string(), z.unknown()).optional(),
  header: z.record(z.string(), z.unknown()).optional(),
  key: z.string().optional(),
  defect: z.string().optional(),
});

const evidence = z.enum(['observed', 'injected']);

/** Optional members of a result. They show the requests on which the verdict is based. */
const shown = {
  transcript: z.array(members({ request: z.string(), response: z.string() })).optional(),
  curl: z.string().optional(),
  recipe: recipe.optional(),
};

const expectation = { reason: z.string(), expires: z.string(), verdict: z.enum(VERDICTS).optional() };

const rule = members({
  id: z.string().min(1),
  section: z.string(),
  says: z.string(),
  level: z.enum(['MUST', 'SHOULD', 'MAY', 'UNSPECIFIED']),
  reach: z.enum(['any', 'needs-setup', 'emulator']),
  read_only: z.boolean(),
  verdict: z.enum(VERDICTS),
  evidence: evidence.optional(),
  reason: z.string().optional(),
  expected: z.unknown().optional(),
  actual: z.unknown().optional(),
  observed: z.record(z.string(), z.unknown()).optional(),
  ...shown,
  nearest: members({
    rule: z.string(),
    request: z.string(),
    status: z.int(),
    differs: z.array(z.string()),
  }).optional(),
  unproven: z.literal(true).optional(),
  milliseconds: z.number().min(0),
  requests: count.optional(),
  variants: z.record(z.string(), z.string()).optional(),
  baseline: members({
    state: z.enum(['expected', 'expired', 'unexpected', 'stale', 'unobserved']),
    ...expectation,
  }).optional(),
  without_drift: members({ verdict: z.enum(VERDICTS), reason: z.string().optional() }).optional(),
});

const setup = members({
  name: z.string(),
  verdict: z.enum(['fail', 'error']),
  reason: z.string(),
  expected: z.unknown().optional(),
  actual: z.unknown().optional(),
  ...shown,
});

const watched = members({
  id: z.string(),
  answers: count,
  evidence,
  broken: members({ reason: z.string().optional(), evidence: evidence.optional(), ...shown }).optional(),
});

const report = members({
  format: z.literal(FORMAT),
  suite: members({ name: z.string(), version: z.string() }),
  specification: z.string(),
  started_at: z.iso.datetime(),
  milliseconds: z.number().min(0),
  target: members({ base_url: z.string(), git_url: z.string(), org: z.string(), emulator: z.boolean() }),
  mode: members({
    write: z.boolean(),
    strict: z.boolean(),
    only: z.string().optional(),
    profiles: z.array(z.enum(PROFILES)).optional(),
    git_client: z.enum(GIT_CLIENTS).optional(),
    min_checked: count.optional(),
    shard: members({ index: z.int().min(1), count: z.int().min(1) }).optional(),
    flags: z.array(z.string()).optional(),
  }),
  recording: members({ entries: count, checked: count }).optional(),
  budget: members({
    requests: count,
    rate: z.number().optional(),
    seconds: count.optional(),
    adaptive: z.literal(true).optional(),
  }).optional(),
  requests: count,
  throttled_seconds: count.optional(),
  interrupted: z.boolean(),
  ended: members({ by: z.enum(['target', 'suite']), reason: z.string() }).optional(),
  notices: z.array(z.string()).optional(),
  setup: z.array(setup).optional(),
  cleanup: members({
    made: count,
    removed: count,
    left: z.array(z.string()),
    reason: z.string().optional(),
    kept: z.literal(true).optional(),
  }).optional(),
  counts: members(Object.fromEntries(VERDICTS.map((verdict) => [verdict, count])) as Record<string, typeof count>),
  coverage: members({ checked: count, total: count }).optional(),
  profiles: z
    .array(
      members({
        profile: z.enum(PROFILES),
        verdict: z.enum(['conforms', 'does not conform', 'not checked']),
        ...{ checked: count, total: count },
      }),
    )
    .optional(),
  variants: z.record(z.string(), z.string()),
  baseline: members({ elsewhere: z.array(members({ rule: z.string(), ...expectation })) }).optional(),
  rules: z.array(rule),
  watched: z.array(watched).optional(),
  exit_code: z.int().min(0).max(255),
});

/** Returns the JSON Schema of JSON reports, published as `fixtures/conformance-report.schema.json`. */
export function reportJsonSchema(): z.core.JSONSchema.BaseSchema {
  return { title: 'A result of the conformance suite', ...z.toJSONSchema(report, { io: 'input' }) };
}

/**
 * Parses a JSON report. Throws `InvalidFile`. Its message, such as `is not JSON`, is meant to follow the name of the
 * file.
 */
export function readReport(text: string): Report {
  const value = parse(text);
  const format = (value as { format?: unknown } | null)?.format;
  if (format === undefined) throw new InvalidFile('is not a result of conformance run --reporter json');
  if (format !== FORMAT) {
    const said = typeof format === 'number' ? String(format) : 'unknown';
    throw new InvalidFile(`has the format ${said}; this suite reads format ${FORMAT}`);
  }
  const { error } = report.safeParse(value);
  if (error !== undefined) throw new InvalidFile(`is not a result of this suite: ${wrongMember(error)}`);
  // Section names and keys such as those of `variants` are not validated. They are only displayed, and another version
  // of the suite may use different ones.
  return value as Report;
}

function parse(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) throw new InvalidFile('is not JSON');
  // Limit the depth, because reporters process the values of a report recursively.
  if (isDeeper(value, MAX_DEPTH)) throw new InvalidFile(`is nested deeper than ${MAX_DEPTH} levels`);
  return value;
}

function isDeeper(value: unknown, limit: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

function wrongMember({ issues }: z.ZodError): string {
  const [first] = issues;
  if (first === undefined) return 'it has the wrong shape';
  const path = first.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return `${path.replace(/^\./, '') || 'the whole'}: ${first.message}`;
}
