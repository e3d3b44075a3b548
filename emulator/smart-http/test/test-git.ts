import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOf } from '../../git/object/bytes.js';
import { type Oid, parseOid } from '../../git/object/object.js';
import { ObjectStore } from '../../git/odb/object-store.js';
import { Refs } from '../../git/refs/refs.js';
import { GitRepository } from '../../git/repository/repository.js';
import { History } from '../../git/revwalk/history.js';

const MAIN = bytesOf('main');

/** An empty repository in memory. `requireWritable` throws where it takes no writes. */
export function createRepository(
  defaultBranch = MAIN,
  objects = new ObjectStore(),
  requireWritable: () => void = () => undefined,
): GitRepository {
  let refs = Refs.empty(defaultBranch);
  return new GitRepository(objects, new History(objects), {
    read: () => refs,
    swap(next) {
      refs = next;
    },
    now: () => 1_700_000_000_000,
    requireWritable,
    failed(error) {
      throw error;
    },
  });
}

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder in which the real git runs, with nothing of the user's configuration. */
export class Workbench implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async create(): Promise<Workbench> {
    return new Workbench(await mkdtemp(join(tmpdir(), 'smart-http-')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** Runs a command in `folder`; output as byte strings. */
  run(folder: string, command: string, args: readonly string[], input: Buffer | string = ''): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd: join(this.path, folder), env: ENVIRONMENT });
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout.on('data', (piece: Buffer) => out.push(piece));
      child.stderr.on('data', (piece: Buffer) => err.push(piece));
      child.on('error', reject);
      child.on('close', (status) =>
        resolve({
          status,
          stdout: Buffer.concat(out).toString('latin1'),
          stderr: Buffer.concat(err).toString('latin1'),
        }),
      );
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });
  }

  try(folder: string, ...args: string[]): Promise<Outcome> {
    return this.run(folder, 'git', args);
  }

  /** Output of a git command that has to succeed, without its final line feed. */
  async git(folder: string, ...args: string[]): Promise<string> {
    return this.feed('', folder, ...args);
  }

  /** As `git`, of a command whose output is an id. */
  async oid(folder: string, ...args: string[]): Promise<Oid> {
    return parseOid(await this.git(folder, ...args));
  }

  /** As `git`, with standard input. */
  async feed(input: Buffer | string, folder: string, ...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(folder, 'git', args, input);
    if (status !== 0) throw new Error(`git ${args.join(' ')} (${status}): ${stderr}`);
    return stdout.replace(/\n$/, '');
  }

  /** Makes a repository with a history by way of `git fast-import`. */
  async import(folder: string, stream: string): Promise<void> {
    await this.git('.', 'init', '-q', '-b', 'main', folder);
    await this.feed(stream, folder, 'fast-import', '--quiet', '--force');
  }
}

const ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_AUTHOR_DATE: '1700090000 +0100',
  GIT_COMMITTER_NAME: 'C O Mitter',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
  GIT_COMMITTER_DATE: '1700090060 -0330',
  HOME: tmpdir(),
  LC_ALL: 'C',
};

/** When the n-th commit of `linearHistory` was made, seconds since 1970. */
export function commitTime(index: number): number {
  return 1_700_000_000 + index * 1000;
}

/**
 * A fast-import stream: `count` commits on `branch`, each changing some of `files` files in nested folders;
 * commit n is marked `:n`. Every tenth is tagged `v<n>`, with an annotated tag.
 */
export function linearHistory(count: number, { branch = 'main', files = 20, from = '', tags = true } = {}): string {
  const lines: string[] = [];
  const identity = (index: number) => `A U Thor <author@example.com> ${commitTime(index)} +0000`;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  for (let index = 1; index <= count; index++) {
    lines.push(`commit refs/heads/${branch}\nmark :${index}\ncommitter ${identity(index)}\n`);
    lines.push(data(`${branch} ${index}\n`));
    if (index === 1 && from !== '') lines.push(`from ${from}\n`);
    for (let file = index % 3; file < files; file += index === 1 ? 1 : 7) {
      const body = Array.from({ length: 40 }, (_, line) => `${branch} ${file} ${(line * index) % 13} ${line}`).join(
        '\n',
      );
      lines.push(`M 100644 inline folder-${file % 4}/deep/file-${file}.txt\n${data(`${body}\n${index}\n`)}`);
    }
    if (tags && index % 10 === 0)
      lines.push(`tag v${index}\nfrom :${index}\ntagger ${identity(index)}\n${data(`version ${index}\n`)}`);
  }
  return lines.join('');
}
