import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ADMIN_PREFIX } from '../admin/path.js';
import { ask, complaintOf, type Environment } from './ask.js';

/** Timeout of an admin API request in milliseconds. It is long, because restoring a snapshot may copy much data. */
const LONGEST_WAIT = 60_000;

/** Query parameters; undefined values are omitted. */
export type Query = Readonly<Record<string, string | undefined>>;

/** Admin API response with one part of a list. `next_cursor` requests the next part; null in the last part. */
export interface ListPage {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
  /** Number of earlier requests that the journal has discarded. Only in lists of requests. */
  readonly dropped?: number;
}

export type AdminMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Refusal of a request by the admin API. The message is the `detail` of the problem details in the response. */
export class AdminApiError extends Error {
  override readonly name: string = 'AdminApiError';

  constructor(
    message: string,
    /** HTTP status of the response. */
    readonly status: number,
    /** Error code of the response, such as `bad_request`. */
    readonly code: string,
  ) {
    super(message);
  }
}

/**
 * Handler for the rejection of a request: resolves to undefined if the requested item does not exist (404), and throws
 * every other error again.
 *
 *     const fault = await api.ask('GET', '/faults/fault-1').catch(ifAbsent);
 */
export function ifAbsent(error: unknown): undefined {
  if (!(error instanceof AdminApiError && error.status === 404)) throw error;
  return undefined;
}

/** Address of an admin API, and what its requests need. */
export interface AdminApiOptions {
  /** Address of the emulator. A slash at its end is ignored. */
  readonly url: string;
  readonly adminToken?: string | undefined;
  /** Id of the namespace (isolated world of the emulator) to control. Default: the emulator itself. */
  readonly namespace?: string | undefined;
  readonly environment: Environment;
}

/**
 * Client of one emulator's admin API. Methods throw `AdminApiError` if the emulator refuses a request, and an `Error`
 * with the address and the reason if it does not respond. A subclass can convert both.
 */
export class AdminApi {
  readonly url: string;
  readonly #namespace: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #environment: Environment;

  constructor({ url, adminToken, namespace, environment }: AdminApiOptions) {
    this.#namespace = namespace;
    this.#environment = environment;
    this.url = url.replace(/\/$/, '');
    this.#headers = {
      ...(adminToken && { authorization: `Bearer ${adminToken}` }),
      // Selects the namespace by its host name on the first port, because a container may publish only this port.
      ...(namespace !== undefined && { host: `${namespace}.ns.localhost` }),
    };
  }

  /** Returns the error to throw if the emulator refuses a request. */
  protected refusal(error: AdminApiError): Error {
    return error;
  }

  /** Returns the error to throw if no emulator responds. `message` contains the address and the reason. */
  protected unreached(message: string): Error {
    return new Error(message);
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
      const message = `The emulator at ${this.url} has no namespace ${JSON.stringify(this.#namespace)}.`;
      throw new AdminApiError(message, 403, 'forbidden');
    }
    return readResponse(response, text);
  }

  async #explain(error: unknown): Promise<Error> {
    if (error instanceof AdminApiError) return this.refusal(error);
    if (error instanceof Error && error.name === 'SourceError') return error;
    return this.unreached(`No emulator at ${this.url}: ${await complaintOf(new URL(this.url), error)}.`);
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
  const { detail, code = '' } = JSON.parse(text) as { readonly detail: string; readonly code?: string };
  throw new AdminApiError(`${detail}${/[.?]$/.test(detail) ? '' : '.'}`, statusCode, code);
}
