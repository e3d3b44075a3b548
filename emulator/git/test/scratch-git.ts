import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type ByteString, bytesIn } from '../object/bytes.js';
import { type ObjectReader, type ObjectType, type Oid, typeName } from '../object/object.js';
import { oid, oids } from './oid.js';

const LF = 0x0a;

/** A throw-away repository of the real Git: the oracle of these tests. */
export class ScratchGit implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'scratch-git-'));

  constructor(...options: string[]) {
    this.run(['init', '-q', '-b', 'main', ...options, '.']);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Output of a command that has to succeed, without its final line feed. */
  run(args: string[], input: Buffer | string = ''): ByteString {
    const { status, stdout, stderr } = this.try(args, input);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return bytesIn(stdout, 0, stdout.at(-1) === LF ? stdout.length - 1 : stdout.length);
  }

  /** The id that a command prints. */
  oid(args: string[], input: Buffer | string = ''): Oid {
    return oid(this.run(args, input));
  }

  /** The ids that a command prints, one in a line. */
  oids(args: string[], input: Buffer | string = ''): Oid[] {
    return oids(this.run(args, input));
  }

  try(args: string[], input: Buffer | string = ''): { status: number | null; stdout: Buffer; stderr: string } {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: this.path,
      input,
      env: ENVIRONMENT,
      maxBuffer: 1 << 28,
    });
    return { status, stdout, stderr: stderr.toString('latin1') };
  }

  /** Stores an object as it is, however broken. */
  add(type: ObjectType, body: Buffer | string): Oid {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    return this.oid(['hash-object', '-w', '--literally', '-t', type, '--stdin'], bytes);
  }

  /** Stores every object of `objects`, as loose objects. */
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

const ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_AUTHOR_DATE: '1700000000 +0100',
  GIT_COMMITTER_NAME: 'C O Mitter',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
  GIT_COMMITTER_DATE: '1700000060 -0330',
  LC_ALL: 'C',
};
