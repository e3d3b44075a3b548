import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createRepo } from '../../api/requests.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { reserveName } from '../../fixtures/repositories.js';
import { isRecord, type JsonRecord } from '../../http/exchange.js';
import { listenOnLoopback } from '../../http/listen.js';
import { parseJson } from '../../target/json.js';
import { isLoopback } from '../../target/target.js';

/** One request that told of an event. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The body, empty where it is no JSON object. */
  readonly payload: JsonRecord;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Ways of an upstream not to be there: each is an owner, so that one address serves all. */
const UPSTREAMS = {
  /** Knows no such repository: asking again would not help. */
  absent: (response: ServerResponse) => void response.writeHead(404).end(),
  /** Answers 503, however often it is asked. */
  overloaded: (response: ServerResponse) => void response.writeHead(503).end(),
  /** Closes every connection. */
  unreachable: (response: ServerResponse) => void response.destroy(),
  /** Takes its time: the sync goes on until somebody ends it. */
  silent: () => undefined,
} as const;

export type UpstreamFailure = keyof typeof UPSTREAMS;

const HOOK = '/hook';
export const SECRET = 'a secret of the conformance suite';
/** No scope of the specification is about events. A token with repo:write has to name a repository: any name will do. */
const REGISTRAR = { repo: 'org', scopes: ['repo:write'] };

/** A server on this machine that is told of events, and that plays the upstream whose failing causes them. */
export class Receiver implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  /** When each upstream was asked, by the path it was asked for. Milliseconds since the epoch. */
  readonly asked = new Map<string, number[]>();
  /** Whether the first delivery about each repository is refused. */
  refusesFirst = false;
  #host = '';
  #webhook = '';

  private constructor(
    private readonly t: RuleContext,
    private readonly server: Server,
  ) {}

  /** Registers itself for the events that are sent by default. Skips the rule where it cannot be reached. */
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
    // A rule that is interrupted does not come to its end, and no receiver keeps the process.
    server.unref();
    try {
      await receiver.#register();
    } catch (error) {
      receiver.#close();
      throw error;
    }
    return receiver;
  }

  /** What arrived about one repository, oldest first. */
  about(repo: unknown): Delivery[] {
    return this.deliveries.filter((delivery) => repositoryOf(delivery) === repo);
  }

  /** Waits for the `count`th delivery about a repository. */
  async next(repo: string, count = 1): Promise<Delivery> {
    return this.t.eventually(async () => this.about(repo)[count - 1], `delivery ${count} about ${repo} arrives`);
  }

  /** A new repository that follows an upstream that fails in this way. Its first sync starts by itself. */
  async follow(failure: UpstreamFailure): Promise<string> {
    const { t } = this;
    const repo = await reserveName(t);
    const name = repo.replaceAll('/', '-');
    const base_repo = { provider: 'gitea', owner: failure, name, upstream_host: this.#host };
    const made = await createRepo(t, repo, { json: { base_repo } });
    if (made.status > 299) throw new Skip(`a repository with an upstream cannot be made here: ${made.outcome}`);
    return repo;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.t.request('DELETE', `/api/v1/webhooks/${this.#webhook}`, { as: REGISTRAR });
    this.#close();
  }

  async #register(): Promise<void> {
    const json = { url: `http://${this.#host}${HOOK}`, secret: SECRET };
    const answer = await this.t.post('/api/v1/webhooks', { as: REGISTRAR, json });
    if (answer.status > 299) throw new Skip(`no address for events can be registered here: ${answer.outcome}`);
    this.#webhook = answer.string('id');
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

/** The name of an event: in the body, or in the header that is for it. */
export function eventOf({ headers, payload }: Delivery): string {
  if (typeof payload.type === 'string') return payload.type;
  const header = Object.keys(headers).find((name) => name.endsWith('-event'));
  return header === undefined ? 'an event without a name' : String(headers[header]);
}
