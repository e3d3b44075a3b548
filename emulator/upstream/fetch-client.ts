import { type ByteString, bytesOf, latin1, sliceBytes, textOf } from '../git/object/bytes.js';
import { isOid, type Oid } from '../git/object/object.js';
import { isRefName } from '../git/refs/ref-name.js';
import type { Outbound } from '../http/outbound.js';
import { DATA, DELIM, FATAL, FLUSH, lineOf, PacketReader, ProtocolError, packet } from '../smart-http/pkt-line.js';

/** Address of an upstream (repository on another host) and the means to reach it. */
export interface Remote {
  /** URL of the repository, without user name and password. */
  readonly url: URL;
  readonly authorization?: string | undefined;
  readonly outbound: Outbound;
  readonly signal: AbortSignal;
  /** Milliseconds of real time without any data after which the upstream counts as unreachable. */
  readonly timeout: number;
}

export interface RemoteRef {
  readonly name: ByteString;
  readonly oid: Oid;
}

const AGENT = 'git/repohost-emulator';
const AGENT_LINE = packet(bytesOf(`agent=${AGENT}\n`));
const FORMAT_LINE = packet(bytesOf('object-format=sha1\n'));
const FETCH_FLAGS = ['thin-pack\n', 'ofs-delta\n', 'no-progress\n'].map((line) => packet(bytesOf(line)));
const DONE = packet(bytesOf('done\n'));
/** Maximum number of lines in one response of an upstream. Its list of refs has one line per ref. */
const MAX_LINES = 1_000_000;
const MAX_LISTING_BYTES = 256 * 1024 * 1024;

/**
 * Opens an upstream (repository on another host) in version 2 of the Git protocol (gitprotocol-v2). Reads `info/refs`,
 * whose content is:
 *
 * capability-advertisement = "version 2" LF *(capability LF) flush-pkt
 *
 * Many servers send a line `# service=…` and a flush-pkt before this content, as in older versions of the protocol.
 * Throws `UpstreamError`.
 */
export async function openUpstream(remote: Remote): Promise<UpstreamSession> {
  if (!remote.outbound.mayReach(remote.url)) {
    throw new UpstreamError(
      `Fetching from ${remote.url.href} is not allowed. Start the emulator with --allow-upstream ${remote.url.hostname}.`,
    );
  }
  return ask(remote, 'GET', 'info/refs?service=git-upload-pack', undefined, async (reader) => {
    let line = await reader.readLine();
    if (line === '# service=git-upload-pack') {
      await reader.readLine();
      line = await reader.readLine();
    }
    if (line !== 'version 2')
      throw new UpstreamError('The upstream does not support version 2 of the Git protocol, which is required.');
    const capabilities = new Map<string, string>();
    for (line = await reader.readLine(); typeof line === 'string'; line = await reader.readLine()) {
      const equals = line.indexOf('=');
      capabilities.set(equals < 0 ? line : line.slice(0, equals), equals < 0 ? '' : line.slice(equals + 1));
    }
    // The body is read to its end, so that the connection can be used for the next request.
    await reader.read();
    const format = capabilities.get('object-format') ?? 'sha1';
    if (format !== 'sha1')
      throw new UpstreamError(`The upstream uses the object format ${format}; only sha1 is supported.`);
    return new UpstreamSession(remote, capabilities);
  });
}

/**
 * Client of an upstream (repository on another host) in version 2 of the Git protocol. All methods throw
 * `UpstreamError`.
 */
export class UpstreamSession {
  constructor(
    private readonly remote: Remote,
    private readonly capabilities: ReadonlyMap<string, string>,
  ) {}

  /**
   * Returns the refs of the upstream whose names begin with one of `prefixes`, in the order in which the upstream lists
   * them. Omits refs with names that Git refuses.
   */
  async listRefs(prefixes: readonly ByteString[]): Promise<RemoteRef[]> {
    const given = prefixes.map((prefix) => latin1`ref-prefix ${prefix}\n`);
    const refs = await this.#lsRefs(given, parseRef);
    return refs.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)) && isRefName(name));
  }

  /**
   * Returns the full name of the ref to which HEAD of the upstream points. Returns undefined if HEAD is not symbolic or
   * the ref does not exist.
   */
  async findHead(): Promise<ByteString | undefined> {
    const targets = await this.#lsRefs([bytesOf('symrefs\n'), bytesOf('ref-prefix HEAD\n')], (line) =>
      parseRef(line).name === 'HEAD' ? / symref-target:([^ ]+)/.exec(line)?.[1] : undefined,
    );
    const target = targets.findLast((name) => name !== undefined);
    return target !== undefined && isRefName(target as ByteString) ? (target as ByteString) : undefined;
  }

  /**
   * Sends the command `ls-refs` with the arguments `given`. Returns the results of `readLine` for the lines of the
   * response.
   */
  #lsRefs<T>(given: readonly ByteString[], readLine: (line: ByteString) => T): Promise<T[]> {
    const command = this.#command('ls-refs', given.map(packet));
    return ask(this.remote, 'POST', 'git-upload-pack', command, async (reader) => {
      const lines: T[] = [];
      for (let line = await reader.readLine(); ; line = await reader.readLine()) {
        if (typeof line === 'string') lines.push(readLine(line));
        else if (line.mark === 'flush') break;
        else throw new ProtocolError('the list of refs is truncated');
      }
      await reader.read();
      return lines;
    });
  }

  /**
   * Fetches a pack with all objects that are reachable from `wants` and not from `haves`. The pack is thin: the bases
   * of its deltas may be objects that are not in the pack, but reachable from `haves`.
   */
  async *fetch({ wants, haves }: { wants: Iterable<Oid>; haves: Iterable<Oid> }): AsyncGenerator<Buffer> {
    const lines = [...FETCH_FLAGS];
    for (const oid of wants) lines.push(packet(latin1`want ${oid}\n`));
    for (const oid of haves) lines.push(packet(latin1`have ${oid}\n`));
    lines.push(DONE);
    const body = await send(this.remote, 'POST', 'git-upload-pack', this.#command('fetch', lines));
    const reader = new PacketReader(body, { packets: Number.MAX_SAFE_INTEGER });
    try {
      await skipToPack(reader);
      yield* packData(reader);
    } catch (error) {
      throw translate(error);
    } finally {
      body.destroy();
    }
  }

  /**
   * Returns the body of a request in version 2 of the Git protocol: `command=<name> LF`, capabilities, delim-pkt,
   * arguments, flush-pkt.
   */
  #command(name: string, lines: readonly Buffer[]): Buffer {
    const head = [packet(bytesOf(`command=${name}\n`)), AGENT_LINE];
    if (this.capabilities.has('object-format')) head.push(FORMAT_LINE);
    return Buffer.concat([...head, DELIM, ...lines, FLUSH]);
  }
}

/**
 * Parses a line of the list of refs: `<oid> SP <refname> *(SP attribute)`. Ignores the attributes. Throws
 * `ProtocolError`.
 */
function parseRef(line: ByteString): RemoteRef {
  const oid = line.slice(0, 40);
  refuseErrorLine(line);
  if (!isOid(oid) || line[40] !== ' ') throw new ProtocolError('a line of the list of refs is malformed');
  const end = line.indexOf(' ', 41);
  return { oid, name: sliceBytes(line, 41, end < 0 ? undefined : end) };
}

/**
 * Skips the sections of a fetch response before the pack, such as `shallow-info`. Each section consists of a header
 * line, further lines, and a delim-pkt.
 */
async function skipToPack(reader: PacketReader): Promise<void> {
  for (let line = await reader.readLine(); line !== 'packfile'; line = await reader.readLine()) {
    if (typeof line === 'string') refuseErrorLine(line);
    else if (line.mark !== 'delim') throw new ProtocolError('its response to the fetch contains no pack');
  }
}

async function* packData(reader: PacketReader): AsyncGenerator<Buffer> {
  for (let next = await reader.read(); next !== 'flush'; next = await reader.read()) {
    if (typeof next === 'string') throw new ProtocolError('the pack is truncated');
    if (next[0] === DATA) yield next.subarray(1);
    else if (next[0] === FATAL) throw new UpstreamError(`The upstream reports: ${textOf(lineOf(next.subarray(1)))}`);
  }
}

function refuseErrorLine(line: ByteString): void {
  if (line.startsWith('ERR ')) throw new UpstreamError(`The upstream reports: ${textOf(sliceBytes(line, 4))}`);
}

type Body = Awaited<ReturnType<Outbound['request']>>['body'];

async function send(remote: Remote, method: 'GET' | 'POST', path: string, content?: Buffer): Promise<Body> {
  const { url, authorization, outbound, signal, timeout } = remote;
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': AGENT, 'git-protocol': 'version=2' };
  if (authorization !== undefined) headers.authorization = authorization;
  if (content) headers['content-type'] = 'application/x-git-upload-pack-request';
  try {
    const target = new URL(`${url.href}/${path}`);
    const { status, body } = await outbound.request(target, {
      method,
      headers,
      signal,
      timeout,
      ...(content && { body: content }),
    });
    if (status === 200) return body;
    body.destroy();
    throw new UpstreamError(
      `The upstream ${url.href} returned status ${status}.`,
      status,
      status >= 500 || status === 429,
    );
  } catch (error) {
    throw translate(error, url);
  }
}

/** Sends a request to the upstream. `read` reads the pkt-lines of the response, and its result is returned. */
async function ask<T>(
  remote: Remote,
  method: 'GET' | 'POST',
  path: string,
  content: Buffer | undefined,
  read: (reader: PacketReader) => Promise<T>,
): Promise<T> {
  const body = await send(remote, method, path, content);
  try {
    return await read(new PacketReader(bounded(body), { packets: MAX_LINES }));
  } catch (error) {
    throw translate(error);
  } finally {
    body.destroy();
  }
}

/**
 * Converts the error of a broken connection or of an invalid response to an `UpstreamError`. Returns other errors
 * unchanged.
 */
function translate(error: unknown, url?: URL): unknown {
  if (error instanceof ProtocolError)
    return new UpstreamError(`The upstream violates the Git protocol: ${error.message}.`);
  const code = (error as NodeJS.ErrnoException | null | undefined)?.code;
  if (typeof code !== 'string' || code === 'ABORT_ERR') return error;
  return new UpstreamError(`The upstream${url ? ` ${url.href}` : ''} cannot be reached (${code}).`, undefined, true);
}

async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_LISTING_BYTES)
      throw new UpstreamError(
        `The list of refs of the upstream is larger than ${MAX_LISTING_BYTES} bytes, the maximum.`,
      );
    yield piece;
  }
}

/**
 * Error with the reason why an upstream (repository on another host) could not be read. Its message is shown to
 * clients, so it contains no credential.
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';

  constructor(
    message: string,
    /** HTTP status of the upstream's response; undefined if the status is not the reason. */
    readonly status?: number,
    /** True if the same request may succeed if it is repeated. */
    readonly isTransient = false,
  ) {
    super(message);
  }
}
