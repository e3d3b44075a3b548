import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Oid, parseOid } from '../git/object/object.js';
import { GIT_ENVIRONMENT as TEST_ENVIRONMENT } from '../git/test/workbench.js';

/** Environment of git, without the user's configuration. */
export const GIT_ENVIRONMENT: NodeJS.ProcessEnv = { ...TEST_ENVIRONMENT, HOME: tmpdir() };

interface GitOptions {
  /** Standard input, in chunks. */
  readonly input?: Iterable<string | Buffer>;
  /** Exit codes that count as success. Default: 0. */
  readonly accept?: readonly number[];
}

/** Runs git in `folder`. Resolves to its output as text, and rejects with its standard error. */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const pieces: Buffer[] = [];
  await runGit(folder, args, options, (piece) => pieces.push(piece));
  return Buffer.concat(pieces).toString().trimEnd();
}

/** Like `git`, with a callback for the output; without one, the output is discarded. */
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
  // Git may stop reading early. Its exit code says whether it failed.
  if (input) await pipeline(Readable.from(input), child.stdin!).catch(() => undefined);
  const status = await closed;
  if (status === null || !accept.includes(status)) throw new Error(`git ${args.join(' ')} (${status}): ${complaint}`);
}

/** Adds a commit on `parent` to a bare repository, with one more file in the root folder. Returns both ids. */
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
