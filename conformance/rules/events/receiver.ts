import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createRepo } from '../../api/requests.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { reserveName } from '../../fixtures/repositories.js';
import { isRecord, type JsonRecord } from '../../http/exchange.js';
import { listenOnLoopback } from '../../http/listen.js';
import { parseJson } from '../../target/json.js';
import { isLoopback } from '../../target/target.js';

/** One request that delivered an event. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The body; empty if it is not a JSON object. */
  readonly payload: JsonRecord;
  /** Arrival time, in milliseconds since the epoch. */
  readonly at: number;
}

/** Failures of an upstream. Each is an owner name, so that one address serves all of them. */
const UPSTREAMS = {
  /** Responds 404 to every request, so that a retry would not help. */
  absent: (response: ServerResponse) => void response.writeHead(404).end(),
  /** Responds 503 to every request. */
  overloaded: (response: ServerResponse) => void response.writeHead(503).end(),
  /** Closes every connection. */
  unreachable: (response: ServerResponse) => void response.destroy(),
  /** Never responds, so the sync runs until it is cancelled. */
  silent: () => undefined,
} as const;

export type UpstreamFailure = keyof typeof UPSTREAMS;

const HOOK = '/hook';
export const SECRET = 'a secret of the conformance suite';
/**
 * No scope of the specification covers events. A token with repo:write must name a repository, and any name is
 * accepted.
 */
const REGISTRAR = { repo: 'org', scopes: ['repo:write'] };

/** A local server that receives events, and plays the upstream whose failures cause them. */
export class Receiver implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  /** Times at which each upstream was requested, by path, in milliseconds since the epoch. */
  readonly asked = new Map<string, number[]>();
  /** True if the first delivery about each repository is refused. */
  refusesFirst = false;
  #host = '';
  #webhook = '';

  private constructor(
    private readonly t: RuleContext,
    private readonly server: Server,
  ) {}

  /** Registers itself for the events that are sent by default. Skips the rule if the target cannot reach it. */
  static async open(t: RuleContext): Promise<Receiver> {
    if (!isLoopback(t.target.baseUrl)) throw new Skip('the target cannot reach a receiver on this machine');
    const server = createServer();
    const receiver = new Receiver(t, server);
    server.on('request', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const path = request.url ?? '';
        if (path === HOOK) receiver.#take(request.headers, Buffer.concat(pieces), response);
        else receiver.#refuse(path, response);
      });
    });
    receiver.#host = await listenOnLoopback(server);
    // An interrupted rule does not dispose of its receiver, so the server must not keep the process alive.
    server.unref();
    try {
      await receiver.#register();
    } catch (error) {
      receiver.#close();
      throw error;
    }
    return receiver;
  }

  /** Returns the deliveries about one repository, oldest first. */
  about(repo: unknown): Delivery[] {
    return this.deliveries.filter((delivery) => repositoryOf(delivery) === repo);
  }

  /** Waits for the `count`th delivery about a repository. */
  async next(repo: string, count = 1): Promise<Delivery> {
    return this.t.eventually(async () => this.about(repo)[count - 1], `delivery ${count} about ${repo} must arrive`);
  }

  /** Creates a repository with an upstream that fails in this way. Its first sync starts automatically. */
  async follow(failure: UpstreamFailure): Promise<string> {
    const { t } = this;
    const repo = await reserveName(t);
    const name = repo.replaceAll('/', '-');
    const base_repo = { provider: 'gitea', owner: failure, name, upstream_host: this.#host };
    const made = await createRepo(t, repo, { json: { base_repo } });
    if (made.status > 299)
      throw new Skip(`a repository with an upstream cannot be created on this target: ${made.outcome}`);
    return repo;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.t.request('DELETE', `/api/v1/webhooks/${this.#webhook}`, { as: REGISTRAR });
    this.#close();
  }

  async #register(): Promise<void> {
    const json = { url: `http://${this.#host}${HOOK}`, secret: SECRET };
    const response = await this.t.post('/api/v1/webhooks', { as: REGISTRAR, json });
    if (response.status > 299) throw new Skip(`no webhook can be registered on this target: ${response.outcome}`);
    this.#webhook = response.string('id');
  }

  #take(headers: IncomingHttpHeaders, bytes: Buffer, response: ServerResponse): void {
    const delivery = { headers, bytes, payload: readObject(bytes), at: this.t.run.now() };
    this.deliveries.push(delivery);
    const refused = this.refusesFirst && this.about(repositoryOf(delivery)).length === 1;
    response.writeHead(refused ? 500 : 204).end();
  }

  #refuse(path: string, response: ServerResponse): void {
    const [repository = ''] = path.split('.git/', 1);
    this.asked.set(repository, [...(this.asked.get(repository) ?? []), this.t.run.now()]);
    const [, owner = ''] = repository.split('/');
    UPSTREAMS[owner in UPSTREAMS ? (owner as UpstreamFailure) : 'absent'](response);
  }

  #close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

function repositoryOf({ payload }: Delivery): unknown {
  return isRecord(payload.repository) ? payload.repository.url : undefined;
}

function readObject(bytes: Buffer): JsonRecord {
  const value = parseJson(bytes.toString('utf8'));
  return isRecord(value) ? value : {};
}

/** Returns the name of an event, from the body or from its header. */
export function eventOf({ headers, payload }: Delivery): string {
  if (typeof payload.type === 'string') return payload.type;
  const header = Object.keys(headers).find((name) => name.endsWith('-event'));
  return header === undefined ? 'an event without a name' : String(headers[header]);
}
