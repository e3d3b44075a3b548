import { execFile } from 'node:child_process';
import type { Test } from 'tap';
import type { Started } from './browser.js';
import { ENVIRONMENT, folder as emptyFolder } from './command.js';
import { mint } from './token.js';

// needs: git

export interface GitOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

/** Local Git repository that pushes to a repository in the emulator. */
export interface Clone {
  readonly folder: string;
  /** Runs `git` in the local repository and returns its output. If `git` fails, rejects with its error output. */
  git(args: readonly string[], options?: GitOptions): Promise<string>;
  /**
   * Returns a remote URL of the repository. `suffix` selects a special remote: `+ephemeral` or `+import`. Without it,
   * returns the ordinary remote.
   */
  remote(suffix?: string): string;
}

/** Creates a repository in the emulator through the admin API. Also creates an empty local Git repository for it. */
export async function makeRepository(t: Test, emulator: Started, name: string): Promise<Clone> {
  await fetch(`${emulator.admin_url}/repositories`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  const token = await mint(emulator, { repo: name, scopes: ['git:read', 'git:write', 'repo:write'] });
  const folder = await emptyFolder(t);
  const git = (args: readonly string[], { input, env }: GitOptions = {}) =>
    new Promise<string>((resolve, reject) => {
      const options = { cwd: folder, env: { ...ENVIRONMENT, ...env }, maxBuffer: 1 << 26 };
      const child = execFile('git', args, options, (error, out, err) =>
        error ? reject(new Error(`git ${args[0]}: ${err || error.message}`)) : resolve(out.trim()),
      );
      child.stdin?.end(input);
    });
  await git(['init', '--quiet', '--initial-branch=main']);
  return { folder, git, remote: (suffix = '') => `http://t:${token}@${emulator.git_host}/${name}${suffix}.git` };
}

/** Commit to create with `git fast-import`. */
export interface WrittenCommit {
  readonly message: string | Buffer;
  readonly author?: string;
  /** Parents as numbers in the list of commits, from 1. Without it, the previous commit is the only parent. */
  readonly parents?: readonly number[];
  /** Contents of files by path. A path that is not UTF-8 can be quoted in the syntax of fast-import. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
}

/**
 * Returns input for `git fast-import` that creates these commits on a branch. The dates of successive commits differ by
 * one minute.
 */
export function fastImport(branch: string, commits: readonly WrittenCommit[]): Buffer {
  const parts: Buffer[] = [];
  const write = (text: string | Buffer) => parts.push(Buffer.from(text as string));
  const data = (content: string | Buffer) => {
    const bytes = Buffer.from(content as string);
    write(`data ${bytes.length}\n`);
    write(bytes);
    write('\n');
  };
  for (const [at, { message, author = 'Ada <ada@example.com>', parents, files = {} }] of commits.entries()) {
    const when = `${1_700_000_000 + 60 * at} +0000`;
    write(`commit refs/heads/${branch}\nmark :${at + 1}\nauthor ${author} ${when}\ncommitter ${author} ${when}\n`);
    data(message);
    const [first, ...others] = parents ?? (at === 0 ? [] : [at]);
    if (first !== undefined) write(`from :${first}\n`);
    for (const other of others) write(`merge :${other}\n`);
    for (const [path, content] of Object.entries(files)) {
      write(`M 100644 inline ${path}\n`);
      data(content);
    }
  }
  return Buffer.concat(parts);
}
