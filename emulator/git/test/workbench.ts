import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type ByteString, bytesIn } from '../object/bytes.js';
import { type ObjectReader, type ObjectType, type Oid, parseOid, typeName } from '../object/object.js';
import { oid, oids } from './oid.js';

// needs: git

const LF = 0x0a;

// Real Git, with whose results tests compare this project. `ScratchGit` is one repository with synchronous commands.
// `Workbench` is a folder with several repositories that talk to a server in this process.

/**
 * Environment variables for Git. They disable the user's configuration, and set fixed names of author and committer.
 */
export const GIT_ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_COMMITTER_NAME: 'C O Mitter',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
  LC_ALL: 'C',
};

const SCRATCH_ENVIRONMENT = {
  ...GIT_ENVIRONMENT,
  GIT_AUTHOR_DATE: '1700000000 +0100',
  GIT_COMMITTER_DATE: '1700000060 -0330',
};

const BENCH_ENVIRONMENT = {
  ...GIT_ENVIRONMENT,
  GIT_AUTHOR_DATE: '1700090000 +0100',
  GIT_COMMITTER_DATE: '1700090060 -0330',
  HOME: tmpdir(),
};

/** Temporary repository of real Git, with whose results tests compare this project. Commands run synchronously. */
export class ScratchGit implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'scratch-git-'));

  constructor(...options: string[]) {
    this.run(['init', '-q', '-b', 'main', ...options, '.']);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Runs a Git command and returns its output without the final line feed. Throws if the command fails. */
  run(args: string[], input: Buffer | string = ''): ByteString {
    const { status, stdout, stderr } = this.try(args, input);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return bytesIn(stdout, 0, stdout.at(-1) === LF ? stdout.length - 1 : stdout.length);
  }

  /** Runs a Git command that prints one object id, and returns the id. Throws if the command fails. */
  oid(args: string[], input: Buffer | string = ''): Oid {
    return oid(this.run(args, input));
  }

  /** Runs a Git command that prints object ids, one per line, and returns them. Throws if the command fails. */
  oids(args: string[], input: Buffer | string = ''): Oid[] {
    return oids(this.run(args, input));
  }

  try(args: string[], input: Buffer | string = ''): { status: number | null; stdout: Buffer; stderr: string } {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: this.path,
      input,
      env: SCRATCH_ENVIRONMENT,
      maxBuffer: 1 << 28,
    });
    return { status, stdout, stderr: stderr.toString('latin1') };
  }

  /** Stores an object with exactly these bytes, even if it is malformed. Returns its id. */
  add(type: ObjectType, body: Buffer | string): Oid {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    return this.oid(['hash-object', '-w', '--literally', '-t', type, '--stdin'], bytes);
  }

  /** Writes all objects of `objects` to this repository as loose objects. */
  copy(objects: ObjectReader): void {
    for (let number = 0; number < objects.size; number++) {
      const oid = objects.oidOf(number);
      const body = objects.read(number);
      const folder = join(this.path, '.git', 'objects', oid.slice(0, 2));
      const file = join(folder, oid.slice(2));
      if (existsSync(file)) continue;
      mkdirSync(folder, { recursive: true });
      const head = Buffer.from(`${typeName(objects.typeOf(number))} ${body.length}\0`);
      writeFileSync(file, deflateSync(Buffer.concat([head, body]), { level: 1 }));
    }
  }
}

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Temporary folder in which real Git runs asynchronously, so that it can talk to a server in this process. The user's
 * Git configuration is disabled.
 */
export class Workbench implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async create(): Promise<Workbench> {
    return new Workbench(await mkdtemp(join(tmpdir(), 'smart-http-')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /**
   * Runs a command in the subfolder `folder`. Resolves to its exit status and its output. The output is a byte string
   * (one character per byte).
   */
  run(folder: string, command: string, args: readonly string[], input: Buffer | string = ''): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd: join(this.path, folder), env: BENCH_ENVIRONMENT });
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

  /**
   * Runs a Git command in the subfolder `folder`. Resolves to its output without the final line feed. Rejects if the
   * command fails.
   */
  async git(folder: string, ...args: string[]): Promise<string> {
    return this.feed('', folder, ...args);
  }

  /** Runs a Git command that prints an object id. Resolves to the id. */
  async oid(folder: string, ...args: string[]): Promise<Oid> {
    return parseOid(await this.git(folder, ...args));
  }

  /** Runs a Git command with `input` as its standard input. Otherwise like `git`. */
  async feed(input: Buffer | string, folder: string, ...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(folder, 'git', args, input);
    if (status !== 0) throw new Error(`git ${args.join(' ')} (${status}): ${stderr}`);
    return stdout.replace(/\n$/, '');
  }

  /** Creates the repository `folder` with a history from a `git fast-import` stream. */
  async import(folder: string, stream: string): Promise<void> {
    await this.git('.', 'init', '-q', '-b', 'main', folder);
    await this.feed(stream, folder, 'fast-import', '--quiet', '--force');
  }
}
