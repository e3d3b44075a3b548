import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { CapturedBody } from '../../journal/captured-body.js';
import type { Outcome } from '../../journal/record.js';
import type { Operation } from '../../operation/operation.js';
import { operationOf } from '../../scenarios/har-archive.js';
import type { GitFacts } from '../../smart-http/git-facts.js';
import { gitFactsOf, summarizeRequest, summarizeResponse } from './git-summary.js';

/** How an exchange ended. `cut`: the deployment ended the connection too early. `gone`: the client disconnected. */
export type End = Exclude<Outcome, 'open'>;

/** Operations whose bodies are content of Git repositories, in addition to those of the group `Git`. */
const LFS_CONTENT: ReadonlySet<string> = new Set(['lfsDownloadObject', 'lfsUploadObject']);

export interface RecordingOptions {
  /** Maximum number of bytes of one body to record. */
  readonly maxBody: number;
  /** True to record the bodies of successful Git responses. */
  readonly keepsGitBodies: boolean;
}

export interface ExchangeOptions extends RecordingOptions {
  /** Scheme and host of the deployment to which the request is forwarded. */
  readonly origin: string;
  /** Number of the exchange, in the order in which the requests began. The first exchange has the number 1. */
  readonly order: number;
  readonly operations: readonly Operation[];
}

/** Request of a client and the response of the deployment, while a recording proxy forwards them. */
export class Exchange {
  readonly order: number;
  readonly origin: string;
  /** System time at which the request began, in milliseconds since 1970. */
  readonly began = Date.now();
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly version: string;
  readonly operation: Operation | undefined;
  /** Header fields in the format of Node's `rawHeaders`. `Host` names the deployment. */
  readonly requestHeaders: readonly string[];
  readonly git: GitFacts | undefined;
  readonly request: CapturedBody;
  /** False if the body of the request, or of the response, is content of a Git repository, which is not recorded. */
  readonly keepsRequest: boolean;
  keepsResponse = true;
  /** Status of the response; 0 until a response arrives. */
  status = 0;
  responseHeaders: readonly string[] = [];
  response = new CapturedBody(0);
  outcome: Outcome = 'open';
  /** Error of the connection to the deployment; undefined if there was none. */
  error: string | undefined = undefined;
  isUnreached = false;
  /** Times in milliseconds since the start of the request: of the response header, and of the end. */
  wait = 0;
  duration = 0;
  readonly #started = performance.now();
  readonly #options: ExchangeOptions;
  readonly #copies: PassThrough[] = [];
  readonly #summaries: Promise<void>[] = [];

  constructor(request: IncomingMessage, headers: readonly string[], options: ExchangeOptions) {
    this.#options = options;
    const { origin, order, operations, maxBody } = options;
    const { method = '', url = '/', httpVersion } = request;
    const split = url.indexOf('?');
    this.order = order;
    this.origin = origin;
    this.method = method;
    this.path = split < 0 ? url : url.slice(0, split);
    this.query = split < 0 ? '' : url.slice(split + 1);
    this.version = httpVersion;
    this.operation = operationOf({ method, url: `${origin}${url}` }, operations);
    this.requestHeaders = headers;
    this.git = gitFactsOf(request);
    this.keepsRequest = !this.#isGitContent;
    this.request = new CapturedBody(this.keepsRequest ? maxBody : 0);
    request.on('data', (piece: Buffer) => this.request.add(piece));
    if (this.git?.phase === 'rpc') {
      const encoding = request.headers['content-encoding'];
      this.#summaries.push(summarizeRequest(this.#copyOf(request), encoding, this.git));
    }
  }

  get #isGitContent(): boolean {
    return this.git !== undefined || (this.operation !== undefined && LFS_CONTENT.has(this.operation.id));
  }

  /** Records the header of the response, and its body while it arrives. */
  receive(incoming: IncomingMessage): void {
    const { maxBody, keepsGitBodies } = this.#options;
    this.status = incoming.statusCode ?? 0;
    this.responseHeaders = incoming.rawHeaders;
    this.wait = this.#elapsed;
    // Error responses are recorded in any case, because they contain no content of a repository.
    this.keepsResponse = keepsGitBodies || this.status >= 400 || !this.#isGitContent;
    this.response = new CapturedBody(this.keepsResponse ? maxBody : 0);
    incoming.on('data', (piece: Buffer) => this.response.add(piece));
    if (this.git && this.status === 200) this.#summaries.push(summarizeResponse(this.#copyOf(incoming), this.git));
  }

  /** Records that the deployment could not be reached, and the response that the proxy sends instead. */
  receiveUnreached(error: string, response: string): void {
    this.error = error;
    this.isUnreached = true;
    this.response = new CapturedBody(response.length);
    this.response.add(response);
  }

  /**
   * Records the end. Resolves when the Git requests and responses are summarized.
   */
  async end(outcome: End): Promise<void> {
    this.outcome = outcome;
    this.duration = this.#elapsed;
    if (this.status === 0) this.wait = this.duration;
    // A copy of an incomplete body never ends by itself.
    if (outcome !== 'complete') this.stopSummaries();
    await Promise.all(this.#summaries);
  }

  /** Ends the summaries of Git requests and responses that have not arrived completely. */
  stopSummaries(): void {
    for (const copy of this.#copies) copy.destroy();
  }

  /** Milliseconds since the start of the request, rounded to microseconds. */
  get #elapsed(): number {
    return Math.round((performance.now() - this.#started) * 1_000) / 1_000;
  }

  #copyOf(body: IncomingMessage): PassThrough {
    const copy = body.pipe(new PassThrough());
    this.#copies.push(copy);
    return copy;
  }
}
