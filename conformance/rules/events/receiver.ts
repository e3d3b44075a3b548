import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createRepo } from '../../api/requests.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { reserveName } from '../../fixtures/repositories.js';
import { isRecord, type JsonRecord } from '../../http/exchange.js';
import { listenOnLoopback } from '../../http/listen.js';
import { FLUSH, writePkt } from '../../http/pkt-line.js';
import { parseJson } from '../../target/json.js';
import { isLoopback } from '../../target/target.js';

/** Delivery of an event: the HTTP request that the target sent to the receiver. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Body parsed as JSON. Empty if the body is not a JSON object. */
  readonly payload: JsonRecord;
  /** Arrival time in milliseconds since the epoch. */
  readonly at: number;
}

/** Start of a response to `info/refs` in version 2 of the Git protocol: the capabilities of a host (gitprotocol-v2). */
const CAPABILITIES = Buffer.concat([...['version 2\n', 'ls-refs\n', 'fetch\n'].map(writePkt), FLUSH]);

/**
 * Ways in which the simulated upstream responds. An upstream is a repository host that the target imports from. The
 * owner name in the URL selects the way, so that one address serves all of them.
 */
const UPSTREAMS = {
  /** Serves a repository without refs in version 2 of the Git protocol, so that a sync succeeds. */
  empty: (response: ServerResponse, path: string) => {
    const [kind, body] = path.includes('/info/refs') ? ['advertisement', CAPABILITIES] : ['result', FLUSH];
    response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${kind}` }).end(body);
  },
  /** Responds 404 to every request. The target then has no reason to retry. */
  absent: (response: ServerResponse) => void response.writeHead(404).end(),
  /** Responds 503 to every request. */
  overloaded: (response: ServerResponse) => void response.writeHead(503).end(),
  /** Closes every connection. */
  unreachable: (response: ServerResponse) => void response.destroy(),
  /** Never responds, so the sync runs until it is cancelled. */
  silent: () => undefined,
} as const;

export type UpstreamKind = keyof typeof UPSTREAMS;

const HOOK = '/hook';
export const SECRET = 'a secret of the conformance suite';
/**
 * Token recipe for registering a receiver. The specification has no scope for events, so `repo:write` is used. A token
 * with this scope must name a repository; the service accepts any name for this request.
 */
const REGISTRAR = { repo: 'org', scopes: ['repo:write'] };

/** Local server that receives the target's events. It also simulates the upstream whose failures cause the events. */
export class Receiver implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  /** Arrival times of requests to the simulated upstream in milliseconds since the epoch, by path. */
  readonly asked = new Map<string, number[]>();
  /**
   * True if the receiver refuses the first delivery about each repository. Rules then see whether the target retries
   * it.
   */
  refusesFirst = false;
  #host = '';
  #webhook = '';

  private constructor(
    private readonly t: RuleContext,
    private readonly server: Server,
  ) {}

  /**
   * Starts a receiver and registers its address at the target, for the events that are sent by default. Skips the rule
   * if the target cannot reach this machine.
   */
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
        else receiver.#respond(path, response);
      });
    });
    receiver.#host = await listenOnLoopback(server);
    // An interrupted rule does not dispose of its receiver. `unref` lets the process exit even if the server still
    // listens.
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

  /** Waits for delivery number `count` about a repository and returns it. Fails the rule if it does not arrive. */
  async next(repo: string, count = 1): Promise<Delivery> {
    return this.t.eventually(async () => this.about(repo)[count - 1], `delivery ${count} about ${repo} must arrive`);
  }

  /**
   * Creates a repository whose upstream responds as `kind` says, and returns its name. The target starts the first sync
   * by itself.
   */
  async follow(kind: UpstreamKind): Promise<string> {
    const { t } = this;
    const repo = await reserveName(t);
    const name = repo.replaceAll('/', '-');
    const base_repo = { provider: 'gitea', owner: kind, name, upstream_host: this.#host };
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

  #respond(path: string, response: ServerResponse): void {
    const [repository = ''] = path.split('.git/', 1);
    this.asked.set(repository, [...(this.asked.get(repository) ?? []), this.t.run.now()]);
    const [, owner = ''] = repository.split('/');
    UPSTREAMS[owner in UPSTREAMS ? (owner as UpstreamKind) : 'absent'](response, path);
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

/**
 * Returns the name of a delivered event. It comes from the body's member `type`, or else from the header whose name
 * ends in `-event`.
 */
export function eventOf({ headers, payload }: Delivery): string {
  if (typeof payload.type === 'string') return payload.type;
  const header = Object.keys(headers).find((name) => name.endsWith('-event'));
  return header === undefined ? 'an event without a name' : String(headers[header]);
}
