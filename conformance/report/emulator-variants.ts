import { type AmbiguityCode, recordKey } from '../specification/ambiguities.js';
import type { Report } from './results.js';

/**
 * Condition on a recorded value of the target. A string matches the value itself, or its beginning before a space. A
 * list of strings matches if one of them matches. A regular expression is tested against the value.
 */
type Shows = string | readonly string[] | RegExp;

/**
 * Names of recorded values of a target. A name is a key of the report's `variants`, or `rule: name` for a value that a
 * rule observed. A name that ends in `*` stands for all names with that prefix.
 */
type Points = readonly string[];

/** A switch of the emulator (`emulator start --variants`). Its value is derived from recorded values of the target. */
interface SwitchRow {
  readonly name: string;
  /**
   * Names of the recorded values that depend on the switch, by group. A recorded value belongs to the first group that
   * has a matching name.
   */
  readonly points: Readonly<Record<string, Points>>;
  /**
   * Values of the switch, the default first. `shows` says for each group which recorded values the switch value causes.
   * A group that is absent from `shows` may have any recorded value.
   */
  readonly values: readonly (readonly [value: string, shows: Readonly<Record<string, Shows>>])[];
}

/**
 * Returns the names of the recorded values of one ambiguity (contradiction or gap of the specification). The names are
 * `what, place` for each of `places`, or just `what` without places.
 */
function at(code: AmbiguityCode, what: string, ...places: readonly string[]): Points {
  return places.length === 0 ? [recordKey(code, what)] : places.map((place) => recordKey(code, `${what}, ${place}`));
}

const GIT_PLACES = ['Git', 'Git fetch', 'Git push refs', 'Git push'];

/** Defines a switch that determines several groups of recorded values. */
function over(name: string, points: SwitchRow['points'], ...values: SwitchRow['values']): SwitchRow {
  return { name, points, values };
}

/**
 * Defines a switch that determines one group of recorded values. `values` maps each switch value to the recorded values
 * that it causes, the default first.
 */
function one(name: string, points: Points, values: Readonly<Record<string, Shows>>): SwitchRow {
  return { name, points: { it: points }, values: Object.entries(values).map(([value, it]) => [value, { it }]) };
}

/** Defines a switch whose values equal the recorded values that it determines. */
function same(name: string, points: Points, ...values: readonly string[]): SwitchRow {
  return { name, points: { it: points }, values: values.map((value) => [value, { it: value }]) };
}

/**
 * Defines a switch whose values are error codes of a refusal with the given HTTP status. A recorded status without a
 * code matches every switch value.
 */
function code(name: string, points: Points, status: number, ...values: readonly string[]): SwitchRow {
  const shows = (value: string) => new RegExp(`^${status}( ${value})?$`);
  return { name, points: { it: points }, values: values.map((value) => [value, { it: shows(value) }]) };
}

const WITHOUT_SCOPE = [
  ...at('A35', 'fetch without scope'),
  ...GIT_PLACES.slice(1).flatMap((place) => at('A35', place, 'without scope')),
];
const SYNCED_READS = ['repo', 'commit', 'file', 'archive'].map(
  (read) => `state.which-operations: sync_in_progress.${read}`,
);

const REFUSED = ['403', '401'];

const SWITCHES: readonly SwitchRow[] = [
  over(
    'invalidToken',
    {
      listed: at('A01', 'invalid token', 'commit', 'file', 'filemeta', 'notes', 'pack', 'repo', 'reset', 'restore'),
      grep: at('A01', 'invalid token', 'grep'),
      others: at('A01', 'invalid token', '*'),
    },
    ['403', { listed: '403', others: '403' }],
    ['endpoint-table', { listed: '401', others: '403' }],
    ['401', { listed: '401', grep: '403', others: '401' }],
  ),
  over(
    'missingScope',
    { listed: at('A02', 'missing scope', 'commit', 'file', 'notes', 'pack'), others: at('A02', 'missing scope', '*') },
    ['403', { listed: '403', others: '403' }],
    ['endpoint-table', { listed: '401', others: '403' }],
  ),
  over(
    'missingRepoClaim',
    {
      claim: [...at('A03', 'no repo claim*'), ...at('A35', 'no repo claim*')],
      org: at('A03', 'org:read on a repository*'),
      // A Git remote refuses without an error code, so only the status is recorded.
      git: GIT_PLACES.flatMap((place) => at('A35', place, 'org:read alone')),
    },
    ['400', { claim: '400', org: ['400', '403 insufficient_scope'], git: ['400', '403'] }],
    ['403', { claim: '403', org: '403', git: '403' }],
  ),
  one('orgTokenOnRepository', at('A03', 'org:read on a repository*'), {
    repo_claim_missing: ['400', '403 forbidden'],
    insufficient_scope: '403 insufficient_scope',
  }),
  one('repositoryScope', at('A26', '*'), { 'git:read': '403', unauthorized: '401', any: '200' }),
  same('emptyBearer', at('A31', 'empty bearer'), '401', '403'),
  over(
    'tokenType',
    { missing: at('A32', 'typ missing'), other: at('A32', 'typ at+jwt') },
    ['required', { missing: REFUSED, other: REFUSED }],
    ['optional', { missing: '200', other: REFUSED }],
    ['ignored', { missing: '200', other: '200' }],
  ),
  one('expNotAfterIat', at('A32', 'exp equals iat'), { rejected: REFUSED, accepted: '200' }),
  one('missingExp', at('A32', 'no exp'), { accepted: '200', rejected: REFUSED }),
  same('unknownRoute', at('A30', 'unknown route without a token'), '404', '401'),
  same('wrongMethod', [...at('A29', 'wrong method'), ...at('A29', 'wrong method', '*')], '405', '404'),
  same('headFileMetadata', at('A29', 'HEAD, file metadata'), '405', '200'),
  same('headFileRange', ['file.conditional: HEAD with Range'], '200', '206'),
  same('gitInvalidToken', at('A35', 'invalid token', ...GIT_PLACES), '403', '401', '404'),
  same('gitMissingScope', WITHOUT_SCOPE, '403', '401', '404'),
  same('gitMissingRepository', at('A35', 'missing repository', ...GIT_PLACES), '404', '403', '401'),
  same(
    'gitOtherRepository',
    [...at('A35', 'other repository', ...GIT_PLACES), ...at('A35', 'same owner', ...GIT_PLACES)],
    '404',
    '403',
    '401',
  ),
  over(
    'thawing',
    { metadata: at('A04', 'thawing, file metadata'), others: at('A04', 'thawing', '*') },
    ['endpoint-table', { metadata: '503', others: '409' }],
    ['409', { metadata: '409', others: '409' }],
    ['503', { metadata: '503', others: '503' }],
  ),
  over(
    'syncing',
    { listed: at('A05', 'syncing', 'file metadata', 'grep'), others: at('A05', 'syncing', '*') },
    ['endpoint-table', { listed: '503', others: '409' }],
    ['409', { listed: '409', others: '409' }],
    ['503', { listed: '503', others: '503' }],
  ),
  one('syncBlocks', SYNCED_READS, {
    writes: '200',
    all: ['409', '503'],
  }),
  one('problemMediaType', ['repo.get.404: content-type'], {
    plain: ['application/problem+json', 'application/problem+json; charset=utf-8'],
    profile: 'application/problem+json; profile="application/json"',
  }),
  one('fileMetadataErrors', at('A06', 'file metadata'), { 'error-only': 'only error', problem: 'problem details' }),
  over(
    'writeFailureBody',
    {
      restore: ['restore.failure-body: body'],
      others: [...at('A07', 'failed commit-pack'), ...at('A07', 'failed note')],
    },
    ['restore-only', { restore: 'result', others: 'problem' }],
    ['all', { restore: 'result', others: 'result' }],
    ['problem', { restore: 'problem', others: 'problem' }],
  ),
  same('restoreNoop', at('A09', 'already matches'), '409', '412', '201', '200'),
  one('restoreNoopFields', at('A08', 'empty'), { empty: 'empty string', null: 'null', absent: 'absent' }),
  same('archiveMissingRef', at('A11', 'missing ref, archive'), '404', '400'),
  over(
    'missingEphemeralRef',
    { metadata: at('A12', 'not ephemeral, file metadata'), file: at('A12', 'not ephemeral, file') },
    ['endpoint-table', { metadata: '400', file: '404' }],
    ['404', { metadata: '404', file: '404' }],
    ['400', { metadata: '400', file: '400' }],
  ),
  {
    name: 'missingRef',
    points: { archive: at('A11', 'missing ref, archive'), it: at('A28', 'missing ref', '*') },
    values: ['ref_not_found', 'not_found', 'branch_not_found'].map((value) => [
      value,
      { it: `404 ${value}`, archive: new RegExp(`^(404( ${value})?|400.*)$`) },
    ]),
  },
  code('missingCommit', at('A28', 'missing commit'), 404, 'ref_not_found', 'not_found'),
  code('missingFile', at('A28', 'missing file'), 404, 'not_found', 'ref_not_found'),
  code('missingBaseBranch', at('A28', 'missing base branch'), 404, 'branch_not_found', 'ref_not_found', 'not_found'),
  one('missingTargetBranch', at('A19', 'missing target branch'), {
    branch_not_found: '404',
    bad_request: '400',
    conflict: '409',
  }),
  over(
    'tagRefs',
    { metadata: at('A15', 'tag, file metadata'), file: at('A15', 'tag, file') },
    ['accepted', { metadata: '200', file: '200' }],
    ['rejected', { metadata: '404', file: '404' }],
    ['metadata-only', { metadata: '200', file: '404' }],
    ['file-only', { metadata: '404', file: '200' }],
  ),
  one('metadataRef', at('A37', 'ref', '*'), {
    short: ['main', 'feature'],
    full: ['refs/heads/main', 'refs/heads/feature'],
    sha: 'SHA',
  }),
  one('resultBranch', at('A38', 'result.branch'), { short: 'main', full: 'refs/heads/main' }),
  one('linesAboveMaximum', at('A22', 'max_lines *'), { clamped: '200', rejected: '400' }),
  same('createStatus', at('A25', 'repository created'), '201', '200', '202', '204'),
  same('duplicateRepository', at('A25', 'duplicate repository'), '409', '201', '200'),
  one('deleteContentId', at('A18', 'delete without content_id'), { required: '400', optional: '201' }),
  same('secondDelete', at('A16', 'second delete'), '409', '404'),
  same('deletedRepository', [...at('A16', 'read after delete'), ...at('A16', 'deleted', '*')], '404', '409'),
  same('oversizedChunk', at('A21', 'chunk above 4 MiB'), '400', '413'),
  same('notesStatus', at('A24', 'note written'), '201', '200'),
  one('contentType', ['general.content-type.other: *'], { lenient: ['200', '201'], strict: '415' }),
];

/** Recorded values that depend on no switch of the emulator. Each list of names has the reason. */
const WITHOUT_SWITCH: readonly (readonly [points: Points, why: string])[] = [
  [at('A34', '*'), 'both sections state the same response'],
  [
    at('A35', 'other tenant', ...GIT_PLACES),
    'a Git remote refuses a token of another tenant with 403 in every profile',
  ],
  [at('A35', 'deleted repository', ...GIT_PLACES), 'already determined by deletedRepository and gitMissingRepository'],
  [at('A31', 'no scheme*'), 'a token without a scheme is refused with 401 in every profile'],
  [at('A07', 'stale head'), 'the code is stated; only the body has a switch, writeFailureBody'],
  [at('A07', 'failed restore'), 'already determined by restore.failure-body'],
];

/** Switches of the emulator whose value no rule can observe, with the reason. */
export const UNSEEN_SWITCHES: Readonly<Record<string, string>> = {
  diffBase: 'the specification describes no diff of a commit with a base',
  customNotesRefs: 'the specification describes no other notes ref',
  afterImport: 'the specification describes no import',
  metadataPagination: 'the specification never paginates file metadata, and a rule checks this',
};

/**
 * Derives emulator switches from a report, so that the emulator behaves like the reported target. The result's
 * `variants` has the form that `emulator start --variants` reads; switches at their default are omitted. `without`
 * lists recorded values that no switch causes.
 */
export function emulatorVariants(report: Pick<Report, 'variants' | 'rules'>) {
  const points = recordedPoints(report);
  const variants: Record<string, string> = {};
  const without: { point: string; seen: string; why: string }[] = [];
  const governed = new Set<string>();
  for (const row of SWITCHES) {
    const own = pointsOf(row, points);
    for (const { point } of own) governed.add(point);
    if (own.length === 0) continue;
    const index = row.values.findIndex(([, shows]) => own.every(({ group, seen }) => fits(shows[group], seen)));
    if (index > 0) variants[row.name] = row.values[index]?.[0] ?? '';
    if (index < 0) {
      const why = `no value of ${row.name} matches ${own.length === 1 ? 'this' : 'these together'}`;
      without.push(...own.map(({ point, seen }) => ({ point, seen, why })));
    }
  }
  for (const [point, seen] of Object.entries(report.variants)) {
    if (governed.has(point)) continue;
    const why = WITHOUT_SWITCH.find(([points]) => isAmong(points, point))?.[1] ?? 'the emulator has no variant for it';
    without.push({ point, seen, why });
  }
  return { variants, without };
}

/**
 * Returns all emulator switches that can be derived from a report. `values` begins with the default. `points` are the
 * names of the recorded values that depend on the switch.
 */
export function recordedSwitches(): { name: string; values: readonly string[]; points: Points }[] {
  return SWITCHES.map(({ name, values, points }) => ({
    name,
    values: values.map(([value]) => value),
    points: Object.values(points).flat(),
  }));
}

function isAmong(patterns: Points, point: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? point.startsWith(pattern.slice(0, -1)) : point === pattern,
  );
}

function pointsOf({ points }: SwitchRow, recorded: ReadonlyMap<string, string>) {
  return [...recorded].flatMap(([point, seen]) => {
    const group = Object.entries(points).find(([, patterns]) => isAmong(patterns, point))?.[0];
    return group === undefined ? [] : [{ point, seen, group }];
  });
}

function fits(shows: Shows | undefined, seen: string): boolean {
  if (shows instanceof RegExp) return shows.test(seen);
  return shows === undefined || [shows].flat().some((text) => seen === text || seen.startsWith(`${text} `));
}

/** Returns all recorded values of a report by name: its variants, and every observed string or number. */
function recordedPoints({ variants, rules }: Pick<Report, 'variants' | 'rules'>): Map<string, string> {
  const points = new Map(Object.entries(variants));
  for (const { id, observed = {} } of rules) {
    for (const [name, value] of Object.entries(observed)) addPoint(points, `${id}: ${name}`, value);
  }
  return points;
}

function addPoint(points: Map<string, string>, point: string, value: unknown): void {
  if (typeof value === 'string' || typeof value === 'number') points.set(point, String(value));
  else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) addPoint(points, `${point}.${name}`, inner);
  }
}
