import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Git with nothing of the user's configuration. */
export const GIT_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_AUTHOR_DATE: '1800000000 +0000',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
  GIT_COMMITTER_DATE: '1800000000 +0000',
};

export interface GitOptions {
  /** Standard input, piece by piece. */
  readonly input?: Iterable<string | Buffer>;
  /** Exit codes that count as success; 0 unless told. */
  readonly accept?: readonly number[];
}

/** Runs git in `folder`; resolves to its output as text. Rejects with what it wrote to standard error. */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const pieces: Buffer[] = [];
  await run(folder, args, options, (piece) => pieces.push(piece));
  return Buffer.concat(pieces).toString().trimEnd();
}

/** Throws a sentence that names the flag when there is no repository with a commit. */
export async function requireRepository(flag: string, path: string): Promise<void> {
  const answer = await git('.', ['--git-dir', path, 'rev-parse', '--verify', '-q', 'HEAD^{commit}']).catch(() => '');
  if (answer === '') throw new Error(`${flag}: ${path} is no Git repository with a commit at HEAD.`);
}

/** Runs git and throws its output away; resolves to the number of bytes. */
export async function countOutput(folder: string, args: readonly string[], options: GitOptions = {}): Promise<number> {
  let bytes = 0;
  await run(folder, args, options, (piece) => {
    bytes += piece.length;
  });
  return bytes;
}

async function run(
  folder: string,
  args: readonly string[],
  { input, accept = [0] }: GitOptions,
  take: (piece: Buffer) => void,
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
