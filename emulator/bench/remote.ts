import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { defaultFixtureKey } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import { bytesOf } from '../git/object/bytes.js';
import { FLUSH, packet } from '../smart-http/pkt-line.js';
import type { Answer } from './answer-reader.js';
import type { Fixture, Ref } from './fixture.js';
import { type AnswerOptions, HttpClient } from './http-client.js';

const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'];

/** A server of Git remotes: the emulator, or Git behind a CGI. */
export class Remote {
  readonly client: HttpClient;
  readonly #tokens = new Map<string, Promise<string>>();

  constructor(readonly origin: string) {
    this.client = new HttpClient(origin);
  }

  /** A token for everything one may do with a repository. The CGI takes it as it takes any password. */
  token(repo: string): Promise<string> {
    const minted = this.#tokens.get(repo) ?? mintFor(repo);
    this.#tokens.set(repo, minted);
    return minted;
  }

  /** The remote with its password, for the git client. */
  async url(repo: string): Promise<string> {
    return `${this.origin.replace('://', `://t:${await this.token(repo)}@`)}/${repo}.git`;
  }

  /** `info/refs`, `git-upload-pack` or `git-receive-pack` in protocol version 2. Throws unless it is answered with 200. */
  async git(repo: string, service: string, options: AnswerOptions = {}): Promise<Answer> {
    const [name] = service.split('?');
    const password = Buffer.from(`t:${await this.token(repo)}`).toString('base64');
    const answer = await this.client.request(`/${repo}.git/${service}`, {
      ...options,
      headers: {
        authorization: `Basic ${password}`,
        'git-protocol': 'version=2',
        ...(options.body && { 'content-type': `application/x-${name}-request` }),
      },
    });
    if (answer.status !== 200) throw new Error(`${repo} ${service} was answered with ${answer.status}`);
    return answer;
  }

  /** An operation of the emulator's API, whatever it answers. */
  async api(repo: string, path: string, options: AnswerOptions & { readonly json?: unknown } = {}): Promise<Answer> {
    const { json, ...rest } = options;
    const authorization = `Bearer ${await this.token(repo)}`;
    const headers = { authorization, 'content-type': 'application/json', ...options.headers };
    return this.client.request(path, {
      ...rest,
      headers,
      ...(json !== undefined && { body: Buffer.from(JSON.stringify(json)) }),
    });
  }

  /** Creates a repository and pushes a fixture to it as one pack, without a git client. */
  async seed(repo: string, fixture: Fixture): Promise<void> {
    await this.create(repo, fixture.branch);
    await this.pushPack(repo, fixture.refs, await readFile(fixture.packFile));
  }

  async create(repo: string, branch: string): Promise<void> {
    const { status } = await this.api(repo, '/api/repos', { json: { default_branch: branch } });
    if (status !== 201) throw new Error(`${repo} was not created: ${status}`);
  }

  async delete(repo: string): Promise<void> {
    await this.api(repo, `/api/repos/${encodeURIComponent(repo)}`, { method: 'DELETE' });
    this.#tokens.delete(repo);
  }

  /** gitprotocol-pack, "Reference Update Request": the commands, a flush, the pack. */
  async pushPack(repo: string, refs: readonly Ref[], pack: Buffer): Promise<void> {
    const lines = refs.map(({ name, oid }, index) =>
      packet(bytesOf(`${'0'.repeat(40)} ${oid} ${name}${index === 0 ? '\0report-status object-format=sha1' : ''}\n`)),
    );
    const answer = await this.git(repo, 'git-receive-pack', { body: [...lines, FLUSH, pack], keepsBody: true });
    const report = answer.body.toString('latin1');
    if (!report.includes('unpack ok') || report.includes('ng ')) throw new Error(`${repo} refused the push: ${report}`);
  }
}

function mintFor(repo: string): Promise<string> {
  const privateKeyPem = readFileSync(defaultFixtureKey().privateKeyFile, 'utf8');
  return mintToken({ privateKeyPem, org: 'demo', repo, scopes: SCOPES });
}
