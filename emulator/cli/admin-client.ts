import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ADMIN_PREFIX } from '../admin/path.js';
import { readNamed, secret, text } from '../config/option-values.js';
import { ask, complaintOf } from './ask.js';
import type { Flags } from './command.js';
import { DEFAULT_URL, readUrl } from './probe.js';
import type { Terminal } from './terminal.js';
import { Unreached, UsageError } from './usage-error.js';

/** Timeout of an admin API request in milliseconds. It is long, because restoring a snapshot may copy much data. */
const LONGEST_WAIT = 60_000;

/** Flags of every command that contacts an emulator. */
export const EMULATOR_FLAGS = {
  url: {
    read: readUrl,
    describe: `Base address of the running emulator; default: the variable EMULATOR_URL, otherwise ${DEFAULT_URL}`,
  },
  'admin-token': {
    read: secret('a token of printable ASCII characters without spaces', /^[\x21-\x7e]+$/),
    describe: 'Token for the admin routes of the emulator; default: the variable EMULATOR_ADMIN_TOKEN',
  },
  json: { describe: 'Print the result as JSON' },
} satisfies Flags;

/** Flags of commands that can also work in a namespace. */
export const ADMIN_FLAGS = {
  ...EMULATOR_FLAGS,
  namespace: {
    read: text('the id of a namespace', /^[a-z0-9-]{1,63}$/),
    describe: 'Id of the namespace (isolated copy of the service) to use; default: the emulator itself',
  },
} satisfies Flags;

export interface AdminAddress {
  readonly url: string | undefined;
  readonly 'admin-token': string | undefined;
  readonly namespace?: string | undefined;
}

/** Query parameters; undefined values are omitted. */
export type Query = Readonly<Record<string, string | undefined>>;

/**
 * Returns the emulator's address: `given` (flag --url), otherwise EMULATOR_URL, otherwise the default. Throws
 * `OptionError` if EMULATOR_URL is invalid.
 */
export function findUrl(given: string | undefined, { environment }: Terminal): string {
  const { EMULATOR_URL } = environment;
  if (given !== undefined || !EMULATOR_URL) return given ?? DEFAULT_URL;
  return readNamed('EMULATOR_URL', readUrl, EMULATOR_URL);
}

/** Admin API response with one part of a list. `next_cursor` requests the next part; null if there is none. */
export interface ListPage {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
  /** Number of earlier requests that the journal has discarded. Only in lists of requests. */
  readonly dropped?: number;
}

export type AdminMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * Client of one emulator's admin API. Methods throw `Unreached` if the emulator does not respond, and `UsageError` with
 * the reason if it refuses the request.
 */
export class AdminClient {
  readonly url: string;
  readonly #namespace: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #environment: Terminal['environment'];

  constructor(address: AdminAddress, terminal: Terminal) {
    this.#namespace = address.namespace;
    this.#environment = terminal.environment;
    this.url = findUrl(address.url, terminal).replace(/\/$/, '');
    const token = address['admin-token'] ?? terminal.environment.EMULATOR_ADMIN_TOKEN;
    this.#headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      // Selects the namespace by host name instead of its own port, because a container may publish only the first
      // port.
      ...(this.#namespace !== undefined && { host: `${this.#namespace}.ns.localhost` }),
    };
  }

  /**
   * Sends a request and returns the parsed JSON response; undefined if the response has no body. Sends an object `body`
   * as JSON. Sends a stream as a tar archive, without a timeout.
   */
  async ask(method: AdminMethod, path: string, body?: object): Promise<unknown> {
    try {
      const response = await this.#send(method, path, body, body instanceof Readable ? undefined : LONGEST_WAIT);
      return this.#read(response, await textOf(response));
    } catch (error) {
      throw await this.#explain(error);
    }
  }

  /** Sends a request and yields the bytes of the response as they arrive. */
  async *receive(path: string, body: object): AsyncGenerator<Buffer> {
    try {
      const response = await this.#send('POST', path, body);
      if (response.statusCode !== 200) this.#read(response, await textOf(response));
      for await (const piece of response) yield piece as Buffer;
      if (!response.complete) throw new Error('its response was truncated');
    } catch (error) {
      throw await this.#explain(error);
    }
  }

  /** Reads a whole list in several requests and returns its items. Calls `onPage` with the body of each response. */
  async list(path: string, query: Query = {}, onPage?: (page: ListPage) => void): Promise<ListPage['items'][number][]> {
    const items: ListPage['items'][number][] = [];
    let cursor = '';
    do {
      const page = (await this.ask('GET', `${withQuery(path, { limit: '1000', ...query })}${cursor}`)) as ListPage;
      onPage?.(page);
      items.push(...page.items);
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    return items;
  }

  /** Yields server-sent events until the emulator ends the stream. Only events after `lastId` are sent. */
  async *events(path: string, lastId: string): AsyncGenerator<{ readonly name: string; readonly data: unknown }> {
    try {
      const response = await this.#send('GET', path, undefined, undefined, { 'last-event-id': lastId });
      if (response.headers['content-type'] !== 'text/event-stream') {
        this.#read(response, await textOf(response));
        throw new Error('the server is not an emulator');
      }
      let text = '';
      for await (const part of response.setEncoding('utf8')) {
        text += String(part);
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const fields = text.slice(0, end);
          text = text.slice(end + 2);
          const name = /^event: (.*)$/m.exec(fields)?.[1];
          if (name !== undefined) yield { name, data: JSON.parse(/^data: (.*)$/m.exec(fields)![1]!) };
        }
      }
    } catch (error) {
      throw await this.#explain(error);
    }
  }

  /**
   * Sends an object as JSON, and a stream as a tar archive. `longest` is the timeout in milliseconds; undefined for
   * none.
   */
  #send(
    method: AdminMethod,
    path: string,
    body?: object,
    longest?: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<IncomingMessage> {
    const type = body && { 'content-type': body instanceof Readable ? 'application/x-tar' : 'application/json' };
    const signal = longest === undefined ? undefined : AbortSignal.timeout(longest);
    const options = { method, headers: { ...type, ...headers, ...this.#headers }, ...(signal && { signal }) };
    return ask(new URL(`${this.url}${ADMIN_PREFIX}${path}`), this.#environment, options, (question) => {
      if (!(body instanceof Readable)) question.end(body && JSON.stringify(body));
      else {
        body.on('error', (error) => question.destroy(error));
        body.pipe(question);
      }
    });
  }

  #read(response: IncomingMessage, text: string): unknown {
    // Reports an unknown namespace for status 403, because the emulator sends 403 for host names that it does not
    // serve.
    if (this.#namespace !== undefined && response.statusCode === 403) {
      throw new UsageError(`The emulator at ${this.url} has no namespace ${JSON.stringify(this.#namespace)}.`);
    }
    return readResponse(response, text);
  }

  async #explain(error: unknown): Promise<Error> {
    if (error instanceof UsageError || (error instanceof Error && error.name === 'SourceError')) return error as Error;
    return new Unreached(`No emulator at ${this.url}: ${await complaintOf(new URL(this.url), error)}.`);
  }
}

/** Appends query parameters to a path. Omits undefined ones. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += String(part);
  return text;
}

function readResponse({ statusCode = 0, headers }: IncomingMessage, text: string): unknown {
  if (statusCode === 204) return undefined;
  const isProblem = headers['content-type']?.startsWith('application/problem+json') ?? false;
  const isJson = headers['content-type']?.startsWith('application/json') ?? false;
  if (statusCode < 300 && isJson) return JSON.parse(text);
  if (!isProblem) throw new Error(`the server is not an emulator (it answered ${statusCode})`);
  const { detail } = JSON.parse(text) as { detail: string };
  const hint = statusCode === 401 ? ' Pass the token in --admin-token or EMULATOR_ADMIN_TOKEN.' : '';
  throw new UsageError(`${detail}${/[.?]$/.test(detail) ? '' : '.'}${hint}`);
}

/** Prints a value as indented JSON, as the flag `--json` demands. */
export function printJson({ print }: Terminal, value: unknown): void {
  print(`${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Returns the action that the user typed after a command. Without one, returns `standard`. Throws `UsageError` if the
 * action is unknown, or missing without a `standard`.
 */
export function readAction<const Action extends string>(
  command: string,
  given: string | undefined,
  actions: readonly Action[],
  standard?: Action,
): Action {
  const action = given ?? standard;
  const found = actions.find((known) => known === action);
  if (found !== undefined) return found;
  const what =
    action === undefined ? `${command} requires an action` : `${command} has no action ${JSON.stringify(action)}`;
  throw new UsageError(`${what}. Its actions are ${actions.join(', ')}.`);
}

/**
 * Returns the argument after the action of a command. `wanted` describes the argument; undefined if the action takes
 * none. Throws `UsageError` if the argument is missing or superfluous.
 */
export function readValue(command: string, given: string | undefined, wanted: string | undefined): string {
  if (wanted === undefined && given !== undefined) {
    throw new UsageError(`${command} takes no further argument, but got ${JSON.stringify(given)}.`);
  }
  if (wanted !== undefined && given === undefined) throw new UsageError(`${command} needs ${wanted}.`);
  return given ?? '';
}
