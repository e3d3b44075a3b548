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

const NOTHING_IGNORED: readonly string[] = [];

const GIT_SERVICES: Readonly<Record<string, 'upload-pack' | 'receive-pack'>> = {
  gitUploadPack: 'upload-pack',
  gitReceivePack: 'receive-pack',
};

/**
 * State of one request in the pipeline. Each step reads what earlier steps have set and sets its own result. A handler
 * sees it as a `HandlerContext`, which contains values only.
 *
 * It is a class because all instances then have one hidden class in V8, and accessors cost nothing to create.
 */
export class RequestContext implements ReplyWatcher, HandlerContext, RequestFacts {
  /** Value of `X-Request-Id`; empty until the request is counted. */
  id = '';
  gitUrl: string;
  isGitUrlGiven: boolean;
  /** Organization of the request. Initially that of the port; `Host` may select another one. */
  organizationName: string;
  readonly inBandFaults: boolean;
  /** Seed of the adversarial responses; undefined if they are off. */
  readonly adversary: string | undefined;
  /** Reasons for the journal, one short sentence per decision. */
  readonly why: string[] = [];
  faults: RequestFaults = NO_FAULTS;
  /** Reasons why faults or the scenario that the request asked for have no effect, in addition to those in `faults`. */
  ignored: readonly string[] = NOTHING_IGNORED;
  /** Scenario that the client names. */
  scenario: string | undefined = undefined;
  /** Corruption that faults selected for the request body and for the response. */
  bodyBreakage: Breakage | undefined = undefined;
  responseBreakage: Breakage | undefined = undefined;
  /** Start of the request in milliseconds: `began` on the world's clock, `started` in real time. */
  began = 0;
  readonly started = performance.now();
  /** Beginning of the request body; undefined until it is read. */
  received: CapturedBody | undefined = undefined;
  /** Beginning of the response body; undefined if the whole body is in memory. */
  sent: CapturedBody | undefined = undefined;
  /** Facts about a Git request. */
  git: GitFacts | undefined = undefined;
  /** Journal entry; undefined until the response is determined. */
  record: RequestRecord | undefined = undefined;
  /** Refusal as a step threw it. A variant may change its wording, see `problem`. */
  refusal: Problem | undefined = undefined;
  /** Step that refused the request; undefined if none did. */
  stopped: StepId | undefined = undefined;
  /** Error that a fault threw, and the step of the fault, because the error may pass through a later step. */
  thrown: { readonly error: unknown; readonly at: StepId } | undefined = undefined;
  /** Refusal as the response shows it; undefined if the request is not refused. */
  problem: Problem | undefined = undefined;
  /** Repository of the request; undefined until a step has found it. */
  found: Repository | undefined = undefined;
  // The following fields are set by steps. A step may rely on the fields that earlier steps set.
  reply!: Reply;
  target!: RequestTarget;
  /** True if the target is an admin route; undefined until the target is read. */
  isForAdmin: boolean | undefined = undefined;
  organization!: Organization;
  operation!: Operation;
  purpose!: Purpose;
  /** Promise of the JSON body; undefined until a step reads it. */
  pendingBody: Promise<unknown> | undefined = undefined;
  /** Parsed JSON body before schema checks; undefined until it is read. */
  json: unknown = undefined;
  params!: Record<string, string>;
  /** Query and body, as parsed by the schemas of the operation. */
  query: unknown = undefined;
  body: unknown = undefined;
  gitFaults: GitFaults | undefined = undefined;
  claims!: Claims;
  /** Verified token, which contains the claims. */
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
   * Assigns the request id and advances a ticking clock, once per request. Requests to admin routes do neither, because
   * the number of health checks during start varies.
   */
  count(): void {
    if (this.id !== '') return;
    this.world.state.clock.tick();
    this.began = this.world.state.clock.now();
    this.id = this.world.nextRequestId();
  }

  /** Name of the connection, unique within its port. */
  get connection(): string {
    return this.listener.connections.nameOf(this.request.socket);
  }

  get repository(): Repository {
    if (!this.found) throw new Error(`${this.operation.id} is not about one repository`);
    return this.found;
  }

  /** Name of the repository: that of the path until the token is verified, then that of the claim. */
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
    // Before the step `purpose` the body has not been read, so only the query can decide the purpose.
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

  // The following functions are created on access and bound to the context. Most operations use none of them.
  get header(): HandlerContext['header'] {
    return (name) => this.request.headers[name]?.toString();
  }

  get stream(): HandlerContext['stream'] {
    return (maxBytes) => this.readBody(maxBytes);
  }

  /** Reads the body, and keeps its beginning for the journal. */
  readBody(maxBytes: number): AsyncIterable<Buffer> {
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

  /** Records why a fault or scenario that the request asked for has no effect. */
  ignore(why: string): void {
    this.ignored = [...this.ignored, why];
    this.why.push(why);
  }

  head(fields: OutgoingHttpHeaders): void {
    // The headers of plain JSON responses are known, so they are kept only if there are others.
    const isPlain = this.reply.json !== undefined && this.reply.headers === undefined;
    if (!isPlain || fields.date !== undefined || this.faults.fired.length > 0) this.record!.responseHeaders = fields;
  }

  whole(body: Uint8Array | string): void {
    if (typeof body === 'string') this.record!.answer = body;
    else this.piece(body);
  }

  piece(piece: Uint8Array | string): void {
    this.sent ??= new CapturedBody();
    this.record!.answer = this.sent;
    this.sent.add(piece);
  }

  /**
   * Records how the response ended. Only the first call counts, because a fault that truncates a response calls it
   * before the connection ends.
   */
  end(outcome: 'complete' | 'cut' | 'gone'): void {
    const record = this.record!;
    if (record.ended > 0) return;
    const { clock, journal } = this.world.state;
    record.micros = Math.round((performance.now() - this.started) * 1000);
    record.sendTime = clock.now() - record.time;
    journal.end(record, outcome);
  }

  /** Closes the connection after the response, so that bytes after this request are not parsed as another one. */
  endConnection(): void {
    this.response.shouldKeepAlive = false;
  }

  /** Sends `100 Continue` to a client that waits for it before it sends its body (RFC 9110, 10.1.1). */
  get sendContinue(): () => void {
    return () => {
      if (awaitsContinue(this.request) && !this.request.readableDidRead && !this.response.headersSent) {
        this.response.writeContinue();
      }
    };
  }

  /**
   * Signal that is aborted when the client disconnects. Created on access, because listening for the end of every
   * request is costly.
   */
  get signal(): AbortSignal {
    this.#gone ??= abortOnDisconnect(this.request, this.response);
    return this.#gone.signal;
  }
}

/** Returns true if the request writes to a world that has been replaced. */
export function isLost({ world, purpose }: RequestContext): boolean {
  return !world.background.isCurrent && purpose !== undefined && purpose.effect !== 'read';
}

/**
 * Records the step that refused the request: the one in which `error` was caught, or the one of the fault that threw
 * it.
 */
export function noteStop(context: RequestContext, error: unknown, at?: StepId): void {
  context.stopped = context.thrown?.error === error ? context.thrown?.at : at;
}

/** Step with the name that the journal shows. */
export interface NamedStep<Run> {
  readonly id: StepId;
  readonly run: Run;
}

/** Step of the chain. Lets the request pass, or throws a `Problem`. */
export type Step = (context: RequestContext) => void | Promise<void>;

/** Synchronous step. */
export type EntryStep = (context: RequestContext) => void;

export interface Listener {
  /** Organization of the port. */
  readonly organization: string;
  readonly origin: (request: IncomingMessage) => string;
  /** True if the origin comes from an option, false if it is the address of the port. */
  readonly isOriginGiven?: boolean | undefined;
  /** True if requests may ask for faults. */
  readonly inBandFaults: boolean;
  /** Seed of the adversarial responses; undefined if they are off. */
  readonly adversary?: string | undefined;
  readonly connections: ConnectionNames;
}
