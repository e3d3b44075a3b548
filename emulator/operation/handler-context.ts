import type { Claims } from '../auth/claims.js';
import type { Scheme } from '../http/scheme.js';
import type { Repository } from '../repositories/repository.js';
import type { Meter } from '../schedule/meter.js';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { GitFaults } from '../smart-http/git-faults.js';
import type { Organization } from '../world/organizations.js';
import type { World } from '../world/world.js';

/** What a handler is given: values only. It answers with a `Reply` or throws a `Problem`. */
export interface HandlerContext<Query = unknown, Body = unknown> {
  readonly world: World;
  readonly organization: Organization;
  /** The repository the request is about. Throws if the operation's subject is not `repository`. */
  readonly repository: Repository;
  /** The claims of the verified token. */
  readonly claims: Claims;
  readonly method: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Lower-case request header, or undefined. */
  header(name: string): string | undefined;
  /** The request body as it arrives; throws past `maxBytes`, after a long pause, and when the client goes away. */
  stream(maxBytes: number): AsyncIterable<Buffer>;
  /** Has the journal say what a request of Git is about. */
  tell(facts: GitFacts): void;
  /** Adds a sentence to those that say, in the journal, what was decided. */
  note(why: string): void;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** What a Git service is asked to do wrong; undefined for almost every request. */
  readonly gitFaults: GitFaults | undefined;
  /** What long loops of this request report to; ends them when the client has gone, or at the operation's limit. */
  readonly meter: Meter;
  /** `http://127.0.0.1:8080`: the origin Git remotes start with. */
  readonly gitUrl: string;
  /** Whether that was given or named, and is not merely the address of a port. */
  readonly isGitUrlGiven: boolean;
  /** What the request came by. */
  readonly scheme: Scheme;
}
