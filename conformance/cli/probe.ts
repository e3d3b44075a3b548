import { dirname, relative, resolve } from 'node:path';
import { stringify } from 'yaml';
import { allRules, type Report, run, Unready } from '../index.js';
import { countReasons } from '../report/alike.js';
import { visible } from '../report/reporter.js';
import type { Look } from '../run/look.js';
import { usualRate } from '../run/preflight.js';
import { CALIBRATION_RULES, type Findings, probe, unusualVariants } from '../run/probe.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';
import type { KeyEntry } from '../target/target-file.js';
import { defineCommand } from './command.js';
import { mannersOf, PACE_FLAGS } from './manners.js';
import { NEW_FILE_FLAGS, openNewFile } from './new-file.js';
import {
  type DescribedTarget,
  describeTarget,
  openTarget,
  TARGET_EXCLUSIVE,
  TARGET_FLAGS,
  TARGET_NEEDS,
} from './target-options.js';
import { UsageError } from './usage-error.js';

export const probeCommand = defineCommand({
  name: 'probe',
  describe: 'Read from a deployment, and write a first target file for it',
  flags: {
    ...TARGET_FLAGS,
    ...PACE_FLAGS,
    ...NEW_FILE_FLAGS,
    all: { describe: 'Write all observed variants, not only those that differ from the default' },
  },
  exclusive: TARGET_EXCLUSIVE,
  needs: [...TARGET_NEEDS, ['force', 'output']],
  run: async (args, session) => {
    const described = await describeTarget(args);
    if (described === undefined) throw new UsageError('no target: use --base-url, --org and --key, or --target');
    const write = await openNewFile(args);
    const manners = mannersOf(args, described);
    const found = await openTarget(described, manners.timeout);
    const target: Target = { ...found, write: false, companion: false };
    const rate = manners.rate ?? usualRate(found);
    const findings = await probe(target, { timeout: manners.timeout, rate });
    const { repo } = findings;
    const report = await calibrate({ ...target, ...defined({ repo }) }, manners.timeout, rate);
    const folder = args.output === undefined ? process.cwd() : dirname(resolve(args.output));
    await write(writeTarget({ described, target: found, findings, report, folder, all: args.all }), session);
    if (!(report instanceof Unready)) return;
    session.warn(`${report.message}\n`);
    session.exitCode ||= 3;
  },
});

/**
 * Runs the calibration rules. They find out how the target behaves where the specification is unclear. Returns the
 * error if the run cannot start.
 */
async function calibrate(target: Target, timeout: number, rate: number): Promise<Report | Unready> {
  try {
    return await run(target, { only: CALIBRATION_RULES.join(','), timeout, rate, width: 1 });
  } catch (error) {
    if (error instanceof Unready) return error;
    throw error;
  }
}

interface Written {
  readonly described: DescribedTarget;
  readonly target: Target;
  readonly findings: Findings;
  readonly report: Report | Unready;
  /**
   * Folder of the target file (description of the service under test) that will be written. File names in the target
   * file are relative to this folder.
   */
  readonly folder: string;
  /** True to write all observed variants, false to write only those that differ from the default. */
  readonly all: boolean;
}

function writeTarget({ described, target, findings, report, folder, all }: Written): string {
  const { keys, second } = described;
  const place = (key: KeyEntry | undefined) =>
    key && defined({ file: placeOf(folder, key.file), env: key.env, id: key.id, scopes: key.scopes });
  const { adminToken } = described;
  const token =
    typeof adminToken === 'object'
      ? defined({ file: placeOf(folder, adminToken.file), env: adminToken.env })
      : undefined;
  const admin = defined({ url: described.adminUrl, token });
  const named = defined({
    main: place(keys.main),
    restricted: place(keys.restricted),
    deleted: place(keys.deleted),
    others: keys.others.length === 0 ? undefined : keys.others.map(place),
  });
  const parts = [
    '# A target of `npx conformance run --target`, as `conformance probe` found it.',
    '',
    member('base_url', target.baseUrl),
    ...aboutApi(findings, target),
    member('git_url', target.gitUrl),
    aboutGit(findings),
    member('org', target.org),
    ...aboutOrganization(findings, report),
    member('keys', named),
    ...lacking(described),
    member(
      'second',
      second && keys.second && defined({ org: second.org, key: place(keys.second), base_url: second.base_url }),
    ),
    member('repo', findings.repo) ?? '# repo: not determined; give a repository with commits',
    aboutRepository(findings),
    '',
    member('write', described.write) ?? withoutWrite(target),
    ...aboutCompanion(findings, described),
    member('admin', Object.keys(admin).length === 0 ? undefined : admin),
    ...(['prefix', 'rate', 'timeout', 'window', 'git_client'] as const).map((name) => member(name, described[name])),
    '',
    ...aboutVariants(report, described, all),
  ];
  return `${parts.filter((part) => part !== undefined).join('\n')}\n`;
}

function withoutWrite({ adminUrl }: Target): string {
  return adminUrl === undefined
    ? '# write: true   # allows runs to create and change repositories with the prefix; default: runs only read'
    : '# write: false   # default on an emulator: runs also write';
}

/**
 * Returns a file name relative to `folder`, or absolute if it is more than two levels above. Returns undefined if no
 * file is given.
 */
function placeOf(folder: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const name = relative(folder, resolve(file));
  return name.startsWith('../../..') ? resolve(file) : name;
}

/** Returns one member of the target file as YAML. Returns undefined if the member has no value. */
function member(name: string, value: unknown): string | undefined {
  return value === undefined ? undefined : stringify({ [name]: value }, { lineWidth: 0 }).trimEnd();
}

/**
 * Returns a text as a one-line YAML comment. Line breaks are removed, so that text from the target cannot add members
 * to the file.
 */
function note(text: string): string {
  return `# ${visible(text).replace(/\s+/g, ' ')}`;
}

function wordsOf({ status, type, code, lost }: Look): string {
  if (status === undefined) return `no response (${lost})`;
  return [status, ...(code === undefined ? [] : [code]), ...(type === undefined ? [] : [`(${type})`])].join(' ');
}

/**
 * Clock differences below this number of seconds are not reported. They mean nothing, because a `Date` header has whole
 * seconds and a response takes time.
 */
const MAX_SKEW = 3;

function aboutApi({ list, anonymous, meta }: Findings, target: Target): (string | undefined)[] {
  const { ahead = meta.ahead } = list;
  const skew = (seconds: number) =>
    Math.abs(seconds) < MAX_SKEW
      ? 'agrees with the local clock'
      : `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;
  return [
    target.adminUrl === undefined ? undefined : note(`an emulator; its admin API is at ${target.adminUrl}`),
    note(`without a token: ${wordsOf(anonymous)}`),
    note(ahead === undefined ? 'clock: unknown, because responses have no Date header' : `clock: ${skew(ahead)}`),
  ];
}

function aboutGit({ git, repo }: Findings): string {
  const words = wordsOf(git);
  if (git.status === undefined) return note(`no response: ${words}`);
  if (repo === undefined) return note(`it responds; no repository is known to try a fetch: ${words}`);
  return note(
    git.status === 200 ? `it responds, and ${repo} can be fetched` : `it responds, but not with refs: ${words}`,
  );
}

function aboutOrganization({ list, meta, envelope }: Findings, report: Report | Unready): string[] {
  return [
    note(report instanceof Unready ? `not accepted, or not determined: ${report.message}` : 'its key is accepted'),
    note(`list of repositories: ${wordsOf(list)}${envelope.length === 0 ? '' : `, members ${envelope.join(', ')}`}`),
    note(`service metadata: ${wordsOf(meta)}`),
  ];
}

function aboutRepository({ repo, branch }: Findings): string | undefined {
  if (repo === undefined) return undefined;
  return note(branch === undefined ? 'default branch: unknown' : `default branch: ${branch}`);
}

/** Returns lines about the keys that the user did not give. Each line says which rules are skipped without the key. */
function lacking({ keys, second }: DescribedTarget): string[] {
  const setUp = allRules().filter(({ reach }) => reach === 'needs-setup').length;
  const missing: readonly (readonly [isGiven: unknown, member: string, rules: string])[] = [
    [keys.restricted, '  # restricted: {file: …, scopes: […]}', 'restricted keys'],
    [keys.deleted, '  # deleted: {file: …}', 'deleted keys'],
    [keys.others.length > 0, '  # others: [{file: …}]', 'other kinds of keys'],
    [second, '# second: {org: …, key: {file: …}}', 'two organizations'],
  ];
  const lines = missing.flatMap(([isGiven, name, rules]) =>
    isGiven ? [] : [`${name}   # not given: rules about ${rules} are skipped`],
  );
  return lines.length === 0
    ? []
    : [...lines, note(`${setUp} rules need such keys, or routes that only published clients use`)];
}

function aboutCompanion({ companion }: Findings, { companion: said }: DescribedTarget): string[] {
  if (said !== undefined) return [`companion: ${said}`];
  const lines = companion.map(([route, look]) => note(`- GET ${route}: ${presence(look)}`));
  return [
    '# companion: true   # also tries routes that only published clients use',
    ...(lines.length === 0
      ? [note('unknown which of them exist, because no repository is known to try them on')]
      : lines),
  ];
}

function presence(look: Look): string {
  const { status, code } = look;
  if (status === undefined) return `unknown: ${wordsOf(look)}`;
  if (status < 300) return 'exists';
  if (code === 'route_not_found' || status === 405 || status === 501) return `does not exist: ${wordsOf(look)}`;
  return `unknown: ${wordsOf(look)}`;
}

function aboutVariants(report: Report | Unready, { variants: pinned = {} }: DescribedTarget, all: boolean): string[] {
  if (report instanceof Unready) return Object.keys(pinned).length === 0 ? [] : [`${member('variants', pinned)}`];
  const seen = all ? report.variants : unusualVariants(report);
  const variants = Object.fromEntries(Object.entries({ ...seen, ...pinned }).sort());
  const usual = Object.keys(report.variants).filter((key) => !Object.hasOwn(variants, key)).length;
  const silent = countReasons(report.rules.filter((rule) => rule.variants === undefined));
  return [
    '# Observed behaviour of this target where the specification permits several. A run fails if the target behaves differently.',
    `${member('variants', variants)}`,
    ...(usual === 0 ? [] : [note(`${usual} more choices are the default and can change; --all writes them too`)]),
    ...(silent.length === 0 ? [] : ['# Not determined:']),
    ...silent.map(([reason, count]) => note(`- ${reason}: ${count} point${count === 1 ? '' : 's'}`)),
  ];
}
