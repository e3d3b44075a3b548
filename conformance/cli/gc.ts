import {
  collectLeft,
  isInUse,
  isScratchName,
  readScratch,
  type ScratchEntry,
  ScratchFailure,
  Unready,
} from '../index.js';
import { groupBy } from '../target/json.js';
import { originOf } from '../target/target.js';
import { defineCommand, type Flags, type Session, type Values } from './command.js';
import { defaultJournal } from './journal.js';
import { mannersOf, PACE_FLAGS } from './manners.js';
import {
  argumentsOf,
  type DescribedTarget,
  describeTarget,
  openTarget,
  TARGET_EXCLUSIVE,
  TARGET_FLAGS,
  TARGET_NEEDS,
} from './target-options.js';
import { UsageError } from './usage-error.js';
import { fileName } from './values.js';

const FLAGS = {
  ...TARGET_FLAGS,
  journal: {
    read: fileName,
    isFile: true,
    describe: 'Scratch journal of the runs; default: in the state folder of the user',
  },
  'dry-run': { describe: 'Print what would be removed, without removing it' },
  ...PACE_FLAGS,
} satisfies Flags;

type Arguments = Values<typeof FLAGS>;

export const gcCommand = defineCommand({
  name: 'gc',
  describe: 'Remove the repositories that interrupted runs left behind',
  flags: FLAGS,
  exclusive: TARGET_EXCLUSIVE,
  needs: TARGET_NEEDS,
  epilogue:
    'Exit codes: 0 nothing is left; 1 something is left; 2 invalid command or journal; 3 a target does not answer.',
  run: async (args, session) => {
    const file = args.journal ?? defaultJournal();
    const entries = await readEntries(file, args.journal !== undefined);
    const described = await describeTarget(args);
    const groups = groupsOf(described === undefined ? entries : entries.filter((entry) => isAt(entry, described)));
    if (groups.length === 0) session.print('nothing is left\n');
    for (const group of groups) await collect(group, { args, file, described, session });
  },
});

/**
 * Reads a scratch journal (list of the repositories that runs created). Returns an empty list if the default journal
 * does not exist. Throws `UsageError` if a journal is invalid, or if a file given with `--journal` does not exist.
 */
async function readEntries(file: string, isNamed: boolean): Promise<readonly ScratchEntry[]> {
  try {
    return await readScratch(file);
  } catch (error) {
    if (!(error instanceof ScratchFailure)) throw error;
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isNamed) return [];
    throw new UsageError(isNamed ? `--journal: ${error.message}` : error.message);
  }
}

function isAt({ base_url, org }: ScratchEntry, described: DescribedTarget): boolean {
  return base_url === originOf(described.base_url) && org === described.org;
}

/**
 * Groups entries of the scratch journal that have the same target (base URL and organization) and the same target
 * flags. Each group then needs only one client configuration.
 */
function groupsOf(entries: readonly ScratchEntry[]): readonly ScratchEntry[][] {
  return [...groupBy(entries, ({ base_url, org, flags }) => JSON.stringify([base_url, org, flags])).values()];
}

interface Collection {
  readonly args: Arguments;
  readonly file: string;
  readonly described: DescribedTarget | undefined;
  readonly session: Session;
}

async function collect(group: readonly ScratchEntry[], collection: Collection): Promise<void> {
  const { args, file, session } = collection;
  const [entry] = group;
  if (entry === undefined) return;
  const { base_url: place, org } = entry;
  const left = (name: string, why: string) => {
    session.print(`left ${name}: ${why}\n`);
    session.exitCode = Math.max(session.exitCode, 1);
  };
  for (const { name, pid } of group.filter(isInUse)) session.print(`kept ${name}: process ${pid} still uses it\n`);
  const free = [...new Set(group.filter((entry) => !isInUse(entry)).map(({ name }) => name))];
  for (const name of free.filter((one) => !isScratchName(one))) left(name, 'the name is not one that a run uses');
  const names = free.filter(isScratchName);
  if (names.length === 0) return;
  if (args['dry-run']) {
    for (const name of names) session.print(`would remove ${name} of ${org} at ${place}\n`);
    return;
  }
  try {
    const { target, manners } = await targetOf(entry, collection);
    const { left: kept, reason = 'unknown reason' } = await collectLeft(target, file, manners);
    const still = new Set(kept);
    for (const name of names) {
      if (still.has(name)) left(name, reason);
      else session.print(`removed ${name}\n`);
    }
  } catch (error) {
    if (!(error instanceof Unready || (error instanceof UsageError && collection.described === undefined))) throw error;
    for (const name of names) left(name, error.message);
    if (error instanceof Unready) session.exitCode = 3;
  }
}

/**
 * Returns the target (service under test) of a journal entry. The target that the arguments of `gc` describe takes
 * precedence over the one that the entry's flags describe. Throws `UsageError` if the description is of another target
 * than the entry's, or if no description is known.
 */
async function targetOf(entry: ScratchEntry, { args, described }: Collection) {
  const named = described ?? (await describeTarget(argumentsOf(entry.flags ?? [])));
  if (named === undefined || !isAt(entry, named)) {
    throw new UsageError(`its target is unknown; use --target: ${entry.base_url}, ${entry.org}`);
  }
  const manners = mannersOf(args, named);
  return { target: await openTarget(named, manners.timeout), manners };
}
