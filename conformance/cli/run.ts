import {
  allRules,
  type BaselineEntry,
  openScratch,
  readBaseline,
  run,
  type Scratch,
  ScratchFailure,
  startTargetEmulator,
  type Target,
} from '../index.js';
import { PROFILES, type Profile, readProfiles } from '../report/profiles.js';
import { selectSome } from '../run/options.js';
import { GIT_CLIENTS, type GitClientChoice } from '../target/git-clients.js';
import { defined } from '../target/json.js';
import { defineCommand, type Flags, type Session, type Values } from './command.js';
import { defaultJournal, ownerOf } from './journal.js';
import { MANNER_FLAGS, mannersOf, PACE_FLAGS } from './manners.js';
import { createProgress } from './progress.js';
import { readInput } from './read-result.js';
import { REPORT_FLAGS, readReportOutput } from './report-output.js';
import { describeTarget, openTarget, TARGET_EXCLUSIVE, TARGET_FLAGS, TARGET_NEEDS, wordsOf } from './target-options.js';
import { UsageError } from './usage-error.js';
import { fileName, prefix, shard, text, wanted, wholeNumber } from './values.js';

/**
 * Parses comma-separated profile names. A profile is a part of the specification that a deployment can offer without
 * the other parts.
 */
function profiles(typed: string): readonly Profile[] {
  const names = readProfiles(typed);
  if (names === undefined) throw wanted(`profiles out of ${PROFILES.join(', ')}, separated by commas`, typed);
  return names;
}

/** Parses the name of a Git client. Throws `UsageError` if the name is unknown. */
function readGitClient(typed: string): GitClientChoice {
  const client = GIT_CLIENTS.find((one) => one === typed);
  if (client === undefined) throw wanted(`one of ${GIT_CLIENTS.join(', ')}`, typed);
  return client;
}

const FLAGS = {
  ...TARGET_FLAGS,
  only: {
    read: text('ids of rules'),
    describe: 'Ids of the rules to check, separated by commas; `*` matches any characters',
  },
  profile: {
    read: profiles,
    describe: `Check only the rules of these profiles, separated by commas: ${PROFILES.join(', ')}`,
  },
  'git-client': {
    read: readGitClient,
    describe:
      'Git client of rules about clones, fetches and pushes: js (isomorphic-git), native (git on the PATH) or both; default: js',
  },
  strict: { describe: 'Warnings and tolerated variants fail the run' },
  'min-checked': {
    read: wholeNumber(1_000_000),
    describe: 'Fail with exit code 1 if fewer rules than this number are checked, because others were skipped',
  },
  baseline: {
    read: fileName,
    isFile: true,
    describe: 'File with expected failures, YAML or JSON; conformance baseline writes a first one',
  },
  shard: { read: shard, describe: 'Check one part of the rules, such as 1/4; conformance merge merges the results' },
  ...REPORT_FLAGS,
  keep: {
    describe: 'Keep the repositories that the run creates; otherwise --write requires a target that can delete them',
  },
  quiet: { describe: 'Show no progress on standard error' },
  ...MANNER_FLAGS,
  workers: {
    read: wholeNumber(64),
    describe: 'Number of rule groups that run concurrently; default: 4, on an emulator 8',
  },
  seed: {
    read: wholeNumber(2 ** 32 - 1, 0),
    describe: 'Seed of the order of the rules; the same seed repeats the order',
  },
  prefix: { read: prefix, describe: 'Prefix of the names of scratch repositories; default: cf' },
  journal: {
    read: fileName,
    isFile: true,
    describe:
      'Scratch journal, which lists repositories before they are created; default: in the state folder of the user',
  },
} satisfies Flags;

type RunArguments = Values<typeof FLAGS>;

export const runCommand = defineCommand({
  name: 'run',
  describe: 'Check a target; without --target or --base-url, the emulator of this package',
  flags: FLAGS,
  exclusive: TARGET_EXCLUSIVE,
  needs: [...TARGET_NEEDS, ['keep', ['base-url', 'target']]],
  run: async (args, session) => {
    const interruption = new Interruption(session);
    try {
      await check(args, session, interruption);
    } catch (error) {
      if (!interruption.signal.aborted) throw error;
      session.warn(`${error instanceof Error ? error.message : String(error)}\n`);
      session.exitCode = 130;
    } finally {
      interruption.dispose();
    }
  },
});

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Handles signals such as SIGINT during a run. The first signal ends the run early, but the run still writes its report
 * and deletes its repositories. The second signal ends the process at once.
 */
class Interruption {
  scratch: Scratch | undefined;
  readonly #abort = new AbortController();

  constructor(readonly session: Session) {
    for (const signal of SIGNALS) process.on(signal, this.#take);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  dispose(): void {
    for (const signal of SIGNALS) process.off(signal, this.#take);
  }

  readonly #take = (): void => {
    if (!this.signal.aborted) {
      this.#abort.abort();
      return;
    }
    const left = this.scratch?.left() ?? [];
    const names = left.length === 0 ? 'nothing' : left.join(', ');
    this.session.warn(`interrupted twice; repositories left behind: ${names}\n`);
    process.exit(130);
  };
}

function parseBaseline(text: string): readonly BaselineEntry[] {
  return readBaseline(text, new Set(allRules().map(({ id }) => id)));
}

/** Checks a target and writes the reports. Without a target in the flags, checks the emulator of this package. */
async function check(args: RunArguments, session: Session, interruption: Interruption): Promise<void> {
  const writeReports = await readReportOutput(args);
  selectSome(args.only, args.profile);
  const baseline = args.baseline && (await readInput(args.baseline, parseBaseline, { flag: '--baseline: ' }));
  const described = await describeTarget(args);
  const { timeout, rate, window } = mannersOf(args, described);
  const checkTarget = async (target: Target, scratch: Scratch) => {
    const { columns } = process.stderr;
    const stream = { isTTY: process.stderr.isTTY === true, columns, write: session.warn };
    const progress = createProgress(stream, args.quiet, () => performance.now());
    interruption.scratch = scratch;
    const { only, profile, seed, shard, strict, keep, workers: width } = args;
    const { 'min-checked': minChecked, 'git-client': gitClient = described?.git_client } = args;
    const prefix = args.prefix ?? described?.prefix;
    const pinned = described && new Map(Object.entries(described.variants ?? {}));
    try {
      const report = await run(target, {
        strict,
        keep,
        timeout,
        signal: interruption.signal,
        scratch,
        // Leave out `window`, because a command that repeats one rule need not spread its requests over time.
        flags: [...wordsOf(TARGET_FLAGS, args), ...wordsOf(PACE_FLAGS, args)],
        onBudget: progress.plan,
        onResult: progress.show,
        onProgress: progress.move,
        ...defined({
          only,
          profiles: profile,
          gitClient,
          minChecked,
          seed,
          shard,
          width,
          baseline: baseline || undefined,
          pinned,
          prefix,
          rate,
          window,
        }),
      });
      progress.clear();
      await writeReports(report, session);
    } finally {
      progress.clear();
    }
  };
  if (described !== undefined) {
    const target = await openTarget(described, timeout, interruption.signal);
    return checkTarget(target, await openJournal(target, args, session));
  }
  const emulator = await startTargetEmulator();
  try {
    // Use no journal file, because the repositories are gone when the emulator stops.
    await checkTarget(emulator.target, await openScratch({ target: emulator.target }));
  } finally {
    await emulator.close();
  }
}

/**
 * Opens the scratch journal (list of the repositories that runs create). It is a file, so that `conformance gc` can
 * delete the repositories of a killed run.
 */
async function openJournal(target: Target, args: RunArguments, session: Session): Promise<Scratch> {
  if (!target.write) return openScratch({ target });
  try {
    return await openScratch({ target, owner: ownerOf(args), file: args.journal ?? defaultJournal() });
  } catch (error) {
    if (!(error instanceof ScratchFailure)) throw error;
    if (args.journal !== undefined) throw new UsageError(`--journal: ${error.message}`);
    session.warn(`${error.message}; if this run is killed, gc cannot find its repositories; use --journal FILE\n`);
    return openScratch({ target });
  }
}
