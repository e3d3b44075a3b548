import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Oid, parseOid } from '../git/object/object.js';

const PERSON = 'Bench';
const EMAIL = 'bench@example.com';
const DATE = '1800000000 +0000';

/** Git with nothing of the user's configuration. */
export const GIT_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: PERSON,
  GIT_AUTHOR_EMAIL: EMAIL,
  GIT_AUTHOR_DATE: DATE,
  GIT_COMMITTER_NAME: PERSON,
  GIT_COMMITTER_EMAIL: EMAIL,
  GIT_COMMITTER_DATE: DATE,
};

interface GitOptions {
  /** Standard input, piece by piece. */
  readonly input?: Iterable<string | Buffer>;
  /** Exit codes that count as success; 0 unless told. */
  readonly accept?: readonly number[];
}

/** Runs git in `folder`; resolves to its output as text. Rejects with what it wrote to standard error. */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const pieces: Buffer[] = [];
  await runGit(folder, args, options, (piece) => pieces.push(piece));
  return Buffer.concat(pieces).toString().trimEnd();
}

/** As `git`, with the output, which is thrown away unless taken. */
export async function runGit(
  folder: string,
  args: readonly string[],
  { input, accept = [0] }: GitOptions = {},
  take: (piece: Buffer) => void = () => undefined,
): Promise<void> {
  const child = spawn('git', args, {
    cwd: folder,
    env: GIT_ENVIRONMENT,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stdout!.on('data', take);
  child.stderr!.on('data', (piece: Buffer) => {
    complaint += piece.toString();
  });
  const closed = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  // Git may stop reading early; its exit code says whether that was a failure.
  if (input) await pipeline(Readable.from(input), child.stdin!).catch(() => undefined);
  const status = await closed;
  if (status === null || !accept.includes(status)) throw new Error(`git ${args.join(' ')} (${status}): ${complaint}`);
}

/** Adds to a bare repository a commit on `parent` with one more file in the root folder; returns both ids. */
export async function addCommit(
  repository: string,
  parent: string,
  name: string,
  content: string | Buffer,
): Promise<{ readonly commit: Oid; readonly blob: string }> {
  const blob = await git(repository, ['hash-object', '-w', '--stdin'], { input: [content] });
  const entries = await git(repository, ['ls-tree', parent]);
  const tree = await git(repository, ['mktree'], { input: [`${entries}\n100644 blob ${blob}\t${name}\n`] });
  const commit = parseOid(await git(repository, ['commit-tree', '-p', parent, '-m', `Add ${name}`, tree]));
  return { commit, blob };
}

/** A folder that is removed when it is disposed of. */
export class TemporaryFolder implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async create(parent = tmpdir()): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(parent, 'emulator-bench-')));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}
