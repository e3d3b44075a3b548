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
 * One request on its way through the chain. Each step reads what earlier steps found and adds its own
 * finding; the handler sees it as a `HandlerContext`, the part of it that is values only.
 *
 * A class, not an object literal: one shape for every request, and accessors that cost nothing to make.
 */
export class RequestContext implements ReplyWatcher, HandlerContext, RequestFacts {
  /** `X-Request-Id`; empty until the request counts. */
  id = '';
  gitUrl: string;
  isGitUrlGiven: boolean;
  /** The organization that the port belongs to; `Host` may select another. */
  organizationName: string;
  readonly inBandFaults: boolean;
  /** What its awkward answer is drawn from, where there is to be one. */
  readonly adversary: string | undefined;
  /** One short sentence per decision, for the journal. */
  readonly why: string[] = [];
  faults: RequestFaults = NO_FAULTS;
  /** Reasons why the request's own faults or scenario have no effect, beside those in `faults`. */
  ignored: readonly string[] = NOTHING_IGNORED;
  /** The scenario that the client says it is in. */
  scenario: string | undefined = undefined;
  /** What faults do to the bytes of its body, and to those of its answer. */
  bodyBreakage: Breakage | undefined = undefined;
  responseBreakage: Breakage | undefined = undefined;
  /** Milliseconds: on the world's clock when the request counted, and of real time when it began. */
  began = 0;
  readonly started = performance.now();
  /** The beginning of its body, once one is read. */
  received: CapturedBody | undefined = undefined;
  /** The beginning of its answer, unless that is at hand. */
  sent: CapturedBody | undefined = undefined;
  /** What a request of Git is about. */
  git: GitFacts | undefined = undefined;
  /** Its line in the journal, once its answer was decided. */
  record: RequestRecord | undefined = undefined;
  /** What refused the request, and how it is told: a variant may word it differently. */
  refusal: Problem | undefined = undefined;
  /** The step that refused the request, where one did. */
  stopped: StepId | undefined = undefined;
  /** What a fault threw, and at which step: it may be thrown on elsewhere. */
  thrown: { readonly error: unknown; readonly at: StepId } | undefined = undefined;
  /** Why the request was refused, once it was. */
  problem: Problem | undefined = undefined;
  /** The repository of the request, once a step has found it. */
  found: Repository | undefined = undefined;
  // Found on the way; a step may rely on what every step before it has set.
  reply!: Reply;
  target!: RequestTarget;
  /** Whether the target is one of the emulator's own routes; undefined until it was read. */
  isForAdmin: boolean | undefined = undefined;
  organization!: Organization;
  operation!: Operation;
  purpose!: Purpose;
  /** The JSON body, once a step has asked for it. */
  pendingBody: Promise<unknown> | undefined = undefined;
  /** What it says, before any schema, once it has been read. */
  json: unknown = undefined;
  params!: Record<string, string>;
  /** Query and body by the schemas of the operation. */
  query: unknown = undefined;
  body: unknown = undefined;
  gitFaults: GitFaults | undefined = undefined;
  claims!: Claims;
  /** The token that the claims are of. */
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
   * Gives the request its number and moves a stepping clock, once. Requests to the emulator's own routes do neither: how
   * often a script that waits for the emulator asks for its health is chance.
   */
  count(): void {
    if (this.id !== '') return;
    this.world.state.clock.tick();
    this.began = this.world.state.clock.now();
    this.id = this.world.nextRequestId();
  }

  /** Names the connection, among those of its port. */
  get connection(): string {
    return this.listener.connections.nameOf(this.request.socket);
  }

  get repository(): Repository {
    if (!this.found) throw new Error(`${this.operation.id} is not about one repository`);
    return this.found;
  }

  /** Name of the repository. Until the token is verified, what the path names. */
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
    // Before the step `purpose`, only a query can decide the purpose, because the body was not read.
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

  tell(facts: GitFacts): void {
    this.git = facts;
  }

  note(why: string): void {
    this.why.push(why);
  }

  // Made where they are asked for, and usable without the context: most operations ask for neither.
  get header(): HandlerContext['header'] {
    return (name) => this.request.headers[name]?.toString();
  }

  get stream(): HandlerContext['stream'] {
    return (maxBytes) => this.readBody(maxBytes);
  }

  /** The body as it arrives. Keeps its beginning. */
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
    // What plain JSON has is known: it is kept only where it has more.
    const isPlain = this.reply.json !== undefined && this.reply.headers === undefined;
    if (!isPlain || fields.date !== undefined || this.faults.fired.length > 0) this.record!.answerHead = fields;
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

  /** How the answer ended. The first to say so is right: what cuts an answer says it before it does. */
  end(outcome: 'complete' | 'cut' | 'gone'): void {
    const record = this.record!;
    if (record.ended > 0) return;
    const { clock, journal } = this.world.state;
    record.micros = Math.round((performance.now() - this.started) * 1000);
    record.sendTime = clock.now() - record.time;
    journal.end(record, outcome);
  }

  /** Nothing behind this request is read as another one; the answer says so. */
  endConnection(): void {
    this.response.shouldKeepAlive = false;
  }

  /** Tells a client that holds its body back that it is wanted (RFC 9110, 10.1.1). */
  get sendContinue(): () => void {
    return () => {
      if (awaitsContinue(this.request) && !this.request.readableDidRead && !this.response.headersSent) {
        this.response.writeContinue();
      }
    };
  }

  /** Aborted when the client has gone. Most requests never ask, and listening for the end of each has its cost. */
  get signal(): AbortSignal {
    this.#gone ??= abortOnDisconnect(this.request, this.response);
    return this.#gone.signal;
  }
}

/** Whether what the request wrote, or was to write, belongs to a world that another one has replaced. */
export function isLost({ world, purpose }: RequestContext): boolean {
  return !world.background.isCurrent && purpose !== undefined && purpose.effect !== 'read';
}

/** Notes where the request was refused: at the step in which `error` came up, or where a fault threw it. */
export function noteStop(context: RequestContext, error: unknown, at?: StepId): void {
  context.stopped = context.thrown?.error === error ? context.thrown?.at : at;
}

/** A link of the chain, as the journal names it. */
export interface NamedStep<Run> {
  readonly id: StepId;
  readonly run: Run;
}

/** One link of the chain: it throws a `Problem` or lets the request pass. */
export type Step = (context: RequestContext) => void | Promise<void>;

/** A link that waits for nothing. */
export type EntryStep = (context: RequestContext) => void;

export interface Listener {
  /** The organization that the port belongs to. */
  readonly organization: string;
  readonly origin: (request: IncomingMessage) => string;
  /** Whether it is not that of a port. */
  readonly isOriginGiven?: boolean | undefined;
  /** Whether requests may ask for faults. */
  readonly inBandFaults: boolean;
  /** What awkward answers are drawn from; undefined where there are none. */
  readonly adversary?: string | undefined;
  readonly connections: ConnectionNames;
}
