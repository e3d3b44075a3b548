import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Verified } from '../auth/authenticate.js';
import type { Claims } from '../auth/claims.js';
import { NO_FAULTS, type RequestFaults } from '../faults/armed-request.js';
import type { RequestFacts } from '../faults/request-facts.js';
import { readChunks } from '../http/body.js';
import { type Breakage, breakBytes } from '../http/broken-response.js';
import { abortOnDisconnect } from '../http/client-disconnect.js';
import { awaitsContinue } from '../http/message.js';
import type { Problem, ProblemCode } from '../http/problem.js';
import type { Reply } from '../http/reply.js';
import type { RequestTarget } from '../http/request-target.js';
import { ResponseCut } from '../http/response-cut.js';
import { type Scheme, schemeOf } from '../http/scheme.js';
import type { ReplyWatcher } from '../http/write-reply.js';
import { CapturedBody } from '../journal/captured-body.js';
import type { RequestRecord } from '../journal/record.js';
import type { StepId } from '../journal/steps.js';
import type { HandlerContext, Operation, Purpose } from '../operation/operation.js';
import { refusalByCode } from '../repositories/lifecycle.js';
import type { Repository } from '../repositories/repository.js';
import { Meter } from '../schedule/meter.js';
import { protocolVersion } from '../smart-http/capabilities.js';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { GitFaults } from '../smart-http/git-faults.js';
import type { Organization } from '../world/organizations.js';
import type { World } from '../world/world.js';
import type { ConnectionNames } from './connection-names.js';

/** Shared empty list, so that a request without a body allocates none. */
const NO_VALUES: readonly unknown[] = [];
const NOTHING_IGNORED: readonly string[] = [];

const GIT_SERVICES: Readonly<Record<string, 'upload-pack' | 'receive-pack'>> = {
  gitUploadPack: 'upload-pack',
  gitReceivePack: 'receive-pack',
};

/**
 * State of one request in the pipeline, which is the sequence of steps that check and answer a request. Each step reads
 * fields that earlier steps have set, and sets its own. The operation's handler gets the same object as a
 * `HandlerContext`, which shows only values.
 *
 * It is a class, so that all instances have one hidden class in V8 and accessors cost nothing to create.
 */
export class RequestContext implements ReplyWatcher, HandlerContext, RequestFacts {
  /** Request id, sent in the response header `X-Request-Id`. Empty until `count` assigns it. */
  id = '';
  gitUrl: string;
  isGitUrlGiven: boolean;
  /**
   * Name of the request's organization. It starts as the organization of the port; the `Host` header may select another
   * one.
   */
  organizationName: string;
  readonly inBandFaults: boolean;
  /**
   * Seed of adversarial responses, which are permitted but unusual, for example with unknown members. Undefined if they
   * are off.
   */
  readonly adversary: string | undefined;
  /**
   * Reasons for the response, one short sentence per decision. Shown in the journal (list of all requests, for tests).
   */
  readonly why: string[] = [];
  faults: RequestFaults = NO_FAULTS;
  /**
   * Reasons why faults (simulated failures) or the scenario that the client asked for have no effect. `faults` has
   * further reasons.
   */
  ignored: readonly string[] = NOTHING_IGNORED;
  /** Scenario (scripted behaviour of the emulator) that the client names; undefined if none. */
  scenario: string | undefined = undefined;
  /** Changes that faults (simulated failures) make to the request body and to the response body. Undefined if none. */
  bodyBreakage: Breakage | undefined = undefined;
  responseBreakage: Breakage | undefined = undefined;
  /**
   * Start of the request, in milliseconds. `began` is on the emulator's clock, which a test can set; `started` is real
   * time.
   */
  began = 0;
  readonly started = performance.now();
  /** Beginning of the request body, for the journal (list of all requests). Undefined until the body is read. */
  received: CapturedBody | undefined = undefined;
  /**
   * Beginning of the response body, for the journal (list of all requests). Undefined if the body is a text that is
   * stored as a whole.
   */
  sent: CapturedBody | undefined = undefined;
  /**
   * Facts about a Git request, such as its refs, for the journal (list of all requests). Undefined for other requests.
   */
  git: GitFacts | undefined = undefined;
  /** Journal record of the request; undefined until the response is determined. */
  record: RequestRecord | undefined = undefined;
  /**
   * Original error response of the step that refused the request; undefined if none did. The client gets `problem`,
   * which a variant (configurable behaviour) may have changed.
   */
  refusal: Problem | undefined = undefined;
  /** Id of the step that refused the request; undefined if none did. */
  stopped: StepId | undefined = undefined;
  /**
   * Error that a fault (simulated failure) threw, with the id of the step at which the fault fired. The id is stored
   * because a later step may catch the error.
   */
  thrown: { readonly error: unknown; readonly at: StepId } | undefined = undefined;
  /** Error response that the client gets; undefined for a successful request. */
  problem: Problem | undefined = undefined;
  /** Repository of the request; undefined until the step `repository` has found it. */
  found: Repository | undefined = undefined;
  // The steps set the following fields. They have no initial values, because each step reads only fields that earlier
  // steps have set.
  reply!: Reply;
  target!: RequestTarget;
  /**
   * True if the path belongs to the admin API, with which tests control the emulator. Undefined until the path is read.
   */
  isForAdmin: boolean | undefined = undefined;
  organization!: Organization;
  operation!: Operation;
  purpose!: Purpose;
  /** Promise of the JSON body; undefined until a step starts reading it. */
  pendingBody: Promise<unknown> | undefined = undefined;
  /**
   * JSON values in the body, before validation against a schema: the JSON body, or the lines of an NDJSON body. Empty
   * until the body is read. NDJSON is read only if a fault has a condition on it.
   */
  bodyValues: readonly unknown[] = NO_VALUES;
  /** Resolves when a streamed body was read for faults (simulated failures); undefined if no fault needs it. */
  pendingStream: Promise<void> | undefined = undefined;
  /** Returns the streamed body that was read for faults (simulated failures); undefined if it was not read. */
  heldBody: ((maxBytes: number) => AsyncIterable<Buffer>) | undefined = undefined;
  params!: Record<string, string>;
  /** Query and body of the request, parsed by the schemas of the operation. */
  query: unknown = undefined;
  body: unknown = undefined;
  gitFaults: GitFaults | undefined = undefined;
  claims!: Claims;
  /** Verified token of the request, including its claims. */
  verified!: Verified;
  #meter: Meter | undefined = undefined;
  #gone: AbortController | undefined = undefined;

  constructor(
    readonly world: World,
    private readonly listener: Listener,
    readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.gitUrl = listener.origin(request);
    this.isGitUrlGiven = listener.isOriginGiven ?? false;
    this.organizationName = listener.organization;
    this.inBandFaults = listener.inBandFaults;
    this.adversary = listener.adversary;
  }

  /**
   * Assigns the request id, and advances a clock that advances with each request. Only the first call has an effect.
   *
   * Requests to the admin API, with which tests control the emulator, are not counted. The number of health checks
   * during a start varies, so counting them would change the ids of later requests.
   */
  count(): void {
    if (this.id !== '') return;
    this.world.state.clock.tick();
    this.began = this.world.state.clock.now();
    this.id = this.world.nextRequestId();
  }

  /** Name of the client's connection, unique within its port. */
  get connection(): string {
    return this.listener.connections.nameOf(this.request.socket);
  }

  get repository(): Repository {
    if (!this.found) throw new Error(`${this.operation.id} is not about one repository`);
    return this.found;
  }

  /**
   * Name of the repository: from the path until the token is verified, then from the claim `repo`. Undefined if absent.
   */
  get repositoryName(): string | undefined {
    return this.claims ? this.claims.repo : this.params?.repo_name;
  }

  get gitHead(): RequestFacts['gitHead'] {
    const { id } = this.operation;
    const phase = id === 'gitInfoRefs' ? 'advertise' : 'rpc';
    const isPush = new URLSearchParams(this.target.query).get('service') === 'git-receive-pack';
    const asked = isPush ? 'receive-pack' : 'upload-pack';
    const service = phase === 'advertise' ? asked : GIT_SERVICES[id];
    return service && { service, phase, protocol: protocolVersion(this.header('git-protocol')) };
  }

  stateRefusal(code: ProblemCode): ProblemCode | undefined {
    const { id, subject, errors, reads, purposeOf } = this.operation;
    // Before the step `purpose`, the body has not been read. A purpose that depends on the body is then unknown, so the
    // effect of the operation is used instead.
    const known =
      this.purpose ?? (reads === 'json' ? undefined : purposeOf?.(new URLSearchParams(this.target.query), undefined));
    const { effect } = known ?? this.operation;
    return refusalByCode(code, { id, subject, errors, effect }, this.world.variants);
  }

  get method(): string {
    return this.request.method!;
  }

  get scheme(): Scheme {
    return schemeOf(this.request);
  }

  get meter(): Meter {
    this.#meter ??= this.#startMeter();
    return this.#meter;
  }

  #startMeter(): Meter {
    const { work } = this.operation;
    const { limits, engine } = this.world;
    const limit = work && limits[work.limit] * (work.times ?? 1);
    return new Meter({ schedule: engine.schedule, limit, signal: () => this.signal });
  }

  recordGitFacts(facts: GitFacts): void {
    this.git = facts;
  }

  note(why: string): void {
    this.why.push(why);
  }

  // These functions are created and bound on access, because most operations use none of them.
  get header(): HandlerContext['header'] {
    return (name) => this.request.headers[name]?.toString();
  }

  get stream(): HandlerContext['stream'] {
    return (maxBytes) => this.readBody(maxBytes);
  }

  /** Reads the request body in chunks. Stores its beginning for the journal (list of all requests). */
  readBody(maxBytes: number): AsyncIterable<Buffer> {
    if (this.heldBody) return this.heldBody(maxBytes);
    const chunks = readChunks(this.request, {
      maxBytes,
      idleTimeout: this.world.limits.idleTimeout,
      onBeforeRead: this.sendContinue,
      watch: (piece) => {
        this.received ??= new CapturedBody();
        this.received.add(piece);
      },
    });
    return this.bodyBreakage === undefined ? chunks : this.#breakBody(chunks, this.bodyBreakage);
  }

  async *#breakBody(chunks: AsyncIterable<Buffer>, breakage: Breakage): AsyncGenerator<Buffer> {
    for await (const piece of breakBytes(chunks, breakage))
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const { cut } = breakage;
    if (cut === undefined || cut.how === 'end') return;
    const error = new ResponseCut(cut.how);
    this.thrown = { error, at: 'faults.body' };
    throw error;
  }

  /** Records why a fault (simulated failure) or scenario that the client asked for has no effect. */
  ignore(why: string): void {
    this.ignored = [...this.ignored, why];
    this.why.push(why);
  }

  head(fields: OutgoingHttpHeaders): void {
    // Does not store the headers of a plain JSON response, because the journal (list of all requests) can compute them.
    const isPlain = this.reply.json !== undefined && this.reply.headers === undefined;
    // Headers that were set before the response was written, such as those of CORS.
    const early = this.response.getHeaderNames();
    if (isPlain && early.length === 0 && fields.date === undefined && this.faults.fired.length === 0) return;
    this.record!.responseHeaders = early.length === 0 ? fields : { ...this.response.getHeaders(), ...fields };
  }

  whole(body: Uint8Array | string): void {
    if (typeof body === 'string') this.record!.response = body;
    else this.piece(body);
  }

  piece(piece: Uint8Array | string): void {
    this.sent ??= new CapturedBody();
    this.record!.response = this.sent;
    this.sent.add(piece);
  }

  /**
   * Records how the response ended. Only the first call has an effect. If a fault (simulated failure) truncates the
   * response, it calls this first, and the end of the connection calls it again.
   */
  end(outcome: 'complete' | 'cut' | 'gone'): void {
    const record = this.record!;
    if (record.ended > 0) return;
    const { clock, journal } = this.world.state;
    record.micros = Math.round((performance.now() - this.started) * 1000);
    record.sendTime = clock.now() - record.time;
    journal.end(record, outcome);
  }

  /**
   * Makes Node close the connection after the response. Used if the end of the request is ambiguous, because the bytes
   * that follow must not be parsed as another request.
   */
  endConnection(): void {
    this.response.shouldKeepAlive = false;
  }

  /**
   * Returns a function that sends `100 Continue` if the client waits for it before sending the body (RFC 9110, 10.1.1).
   */
  get sendContinue(): () => void {
    return () => {
      if (awaitsContinue(this.request) && !this.request.readableDidRead && !this.response.headersSent) {
        this.response.writeContinue();
      }
    };
  }

  /**
   * Signal that is aborted when the client disconnects. Created on first access, because listening for the disconnect
   * of every client is costly.
   */
  get signal(): AbortSignal {
    this.#gone ??= abortOnDisconnect(this.request, this.response);
    return this.#gone.signal;
  }
}

/**
 * Returns true if the request writes to a world (state of the emulator) that a reset has already replaced. The result
 * of the write is lost.
 */
export function isLost({ world, purpose }: RequestContext): boolean {
  return !world.background.isCurrent && purpose !== undefined && purpose.effect !== 'read';
}

/**
 * Records the step that refused the request, for the journal (list of all requests). If a fault threw `error`, it is
 * the step of the fault. Otherwise it is `at`, the step that was running.
 */
export function noteStop(context: RequestContext, error: unknown, at?: StepId): void {
  context.stopped = context.thrown?.error === error ? context.thrown?.at : at;
}

/** Step of the pipeline with its id, which the journal (list of all requests) shows. */
export interface NamedStep<Run> {
  readonly id: StepId;
  readonly run: Run;
}

/**
 * Step of the pipeline for a parsed request. It returns to continue with the next step, or throws a `Problem` (error
 * response).
 */
export type Step = (context: RequestContext) => void | Promise<void>;

/** Synchronous step that parses the request. Entry steps run before all others. */
export type EntryStep = (context: RequestContext) => void;

export interface Listener {
  /** Name of the organization that the port serves. The `Host` header can select another one. */
  readonly organization: string;
  readonly origin: (request: IncomingMessage) => string;
  /** True if `origin` returns a configured value; false if it returns the address of the port. */
  readonly isOriginGiven?: boolean | undefined;
  /** True if clients may ask for faults (simulated failures) in request headers or in the token. */
  readonly inBandFaults: boolean;
  /**
   * Seed of adversarial responses, which are permitted but unusual, for example with unknown members. Undefined if they
   * are off.
   */
  readonly adversary?: string | undefined;
  readonly connections: ConnectionNames;
}
