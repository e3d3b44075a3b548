import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// needs: git

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_AUTHOR_DATE: '1700000000 +0100',
  GIT_COMMITTER_NAME: 'C O Mitter',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
  GIT_COMMITTER_DATE: '1700000060 -0330',
};

export const hasGit = canRunGit();

function canRunGit(): boolean {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * HTTP server of real git, as an upstream for the emulator. It serves a folder of bare repositories with the CGI
 * program `git http-backend`.
 */
export class GitUpstream implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), 'upstream-'));
  /**
   * Called for each request before git runs. Returns a status to respond with, or undefined to run git. Tests replace
   * it to simulate failures of the upstream.
   */
  answer: (request: IncomingMessage) => number | undefined | Promise<number | undefined> = () => undefined;
  /** Received requests, in order of arrival. `answered` is the number of bytes that git sent in response. */
  readonly seen: { readonly method: string; readonly url: string; answered: number }[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<GitUpstream> {
    const upstream = new GitUpstream();
    await new Promise<void>((resolve) => upstream.#server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.path, { recursive: true, force: true });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Runs git in a folder below the repositories' root. Returns its output without the final line feed. Throws if git
   * fails.
   */
  git(folder: string, args: readonly string[], input: string | Buffer = ''): string {
    const options = { cwd: join(this.path, folder), env: ENVIRONMENT, input, maxBuffer: 1 << 28 };
    return execFileSync('git', [...args], options)
      .toString()
      .trimEnd();
  }

  /** Creates a bare repository. `stream` is `git fast-import` input with its first commits. It may be empty. */
  create(name: string, stream = ''): void {
    this.git('.', ['init', '-q', '--bare', '-b', 'main', `${name}.git`]);
    if (stream !== '') this.import(name, stream);
  }

  import(name: string, stream: string): void {
    this.git(`${name}.git`, ['fast-import', '--quiet', '--force'], stream);
  }

  /** Returns one line for each branch and tag, with its name and object id. */
  refs(name: string): string {
    return this.git(`${name}.git`, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags']);
  }

  /**
   * Runs git through CGI (RFC 3875). The request is passed in environment variables and standard input. Git's output
   * has the response headers, an empty line, and the body.
   */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = { method: request.method!, url: request.url!, answered: 0 };
    this.seen.push(entry);
    const status = await this.answer(request);
    if (status !== undefined) {
      request.resume();
      response.writeHead(status).end();
      return;
    }
    const { pathname, search } = new URL(request.url!, 'http://localhost');
    const child = spawn('git', ['http-backend'], {
      env: {
        ...ENVIRONMENT,
        GIT_PROJECT_ROOT: this.path,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REQUEST_METHOD: request.method,
        PATH_INFO: decodeURIComponent(pathname),
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin.on('error', () => undefined);
    request.pipe(child.stdin);
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.on('close', () => {
      const output = Buffer.concat(pieces);
      entry.answered = output.length;
      const end = output.indexOf('\r\n\r\n');
      let code = 200;
      for (const line of output.toString('latin1', 0, end).split('\r\n')) {
        const [name, value] = line.split(': ') as [string, string];
        if (name === 'Status') code = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.writeHead(code).end(output.subarray(end + 4));
    });
  }
}
