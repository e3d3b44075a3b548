import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Oid, parseOid } from '../git/object/object.js';
import { GIT_ENVIRONMENT as TEST_ENVIRONMENT } from '../git/test/workbench.js';

/** Environment variables for git processes. They hide the user's own Git configuration. */
export const GIT_ENVIRONMENT: NodeJS.ProcessEnv = { ...TEST_ENVIRONMENT, HOME: tmpdir() };

interface GitOptions {
  /** Standard input of the git process, in chunks. Default: no input. */
  readonly input?: Iterable<string | Buffer>;
  /** Exit codes of git that count as success. Default: only 0. */
  readonly accept?: readonly number[];
}

/** Runs git in `folder`. Resolves to the standard output as text. Rejects with the standard error if git fails. */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const pieces: Buffer[] = [];
  await runGit(folder, args, options, (piece) => pieces.push(piece));
  return Buffer.concat(pieces).toString().trimEnd();
}

/** Like the function `git`, but passes the standard output to `take` in chunks. Without `take`, discards the output. */
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
  // Ignores an error while writing the input, because git may stop reading early. The exit code says if git failed.
  if (input) await pipeline(Readable.from(input), child.stdin!).catch(() => undefined);
  const status = await closed;
  if (status === null || !accept.includes(status)) throw new Error(`git ${args.join(' ')} (${status}): ${complaint}`);
}

/**
 * Adds a commit with the parent `parent` to a bare repository. The commit adds one file, `name`, to the root folder.
 * Returns the ids of the commit and of the file's blob.
 */
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
