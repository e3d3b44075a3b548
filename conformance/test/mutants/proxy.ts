import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { Pool } from 'undici';
import { hangUp } from '../../http/hang-up.js';
import { listenOnLoopback } from '../../http/listen.js';
import type { Target } from '../../target/target.js';
import { HOP_BY_HOP } from '../pass-through.js';

/** Request of the suite, as the proxy received it. A mutant (wrong server) may change it before it is forwarded. */
export interface ProxiedRequest {
  readonly method: string;
  path: string;
  readonly headers: Record<string, string>;
  body: Buffer;
}

/**
 * Response of the correct server, as the proxy received it. A mutant (wrong server) may change it before the suite gets
 * it.
 */
export interface ProxiedResponse {
  readonly request: Readonly<ProxiedRequest>;
  status: number;
  readonly headers: Record<string, string | string[]>;
  body: Buffer;
}

/** Changes that a proxy makes to requests and responses, so that a correct server looks wrong to the suite. */
export interface Rewrite {
  readonly request?: (request: ProxiedRequest) => void;
  readonly response?: (response: ProxiedResponse) => void;
}

/** Wraps a rewrite. The result calls `onChange` whenever the rewrite changes a request or a response. */
export function watchRewrite({ request, response }: Rewrite, onChange: () => void): Rewrite {
  const watch = <Message extends ProxiedRequest | ProxiedResponse>(change: (message: Message) => void) => {
    return (message: Message) => {
      const before = { ...message, headers: { ...message.headers }, body: Buffer.from(message.body) };
      change(message);
      if (!isDeepStrictEqual({ ...message }, before)) onChange();
    };
  };
  return { ...(request && { request: watch(request) }), ...(response && { response: watch(response) }) };
}

export interface Proxy extends AsyncDisposable {
  /**
   * Target with the address of the proxy. Each namespace that is created through the proxy gets its own proxy. A
   * namespace is a separate service in the emulator.
   */
  readonly target: Target;
}

function without(headers: IncomingHttpHeaders, names: readonly string[]): ProxiedResponse['headers'] {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || names.includes(name) ? [] : [[name, value]],
    ),
  );
}

const ADMIN = '/_emulator/';

/**
 * Time in milliseconds between a client's disconnect and the proxy's disconnect. It lets the request reach the server
 * first.
 */
const TIME_TO_WRITE = 50;

/**
 * Starts a proxy between the suite and the server. It applies the rewrite to all requests and responses, except those
 * of the emulator's admin API.
 */
export async function startProxy(target: Target, rewrite: Rewrite): Promise<Proxy> {
  const pool = new Pool(target.baseUrl);
  const namespaces: Proxy[] = [];
  const proxyNamespace = async (response: ProxiedResponse): Promise<void> => {
    const namespace: { orgs: { base_url: string; git_url: string }[] } = JSON.parse(response.body.toString());
    for (const organization of namespace.orgs) {
      const proxy = await startProxy({ ...target, baseUrl: organization.base_url }, rewrite);
      namespaces.push(proxy);
      organization.base_url = organization.git_url = proxy.target.baseUrl;
    }
    response.body = Buffer.from(JSON.stringify(namespace));
  };
  const pass = async (request: ProxiedRequest, outgoing: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    outgoing.once('close', () => setTimeout(() => gone.abort(), outgoing.writableFinished ? 0 : TIME_TO_WRITE));
    const isAdmin = request.path.startsWith(ADMIN);
    if (!isAdmin) rewrite.request?.(request);
    const { method, path, headers, body } = request;
    const reply = await pool.request({
      method: method as 'GET',
      path,
      headers,
      body: body.length === 0 ? null : body,
      signal: gone.signal,
    });
    const response: ProxiedResponse = {
      request,
      status: reply.statusCode,
      headers: without(reply.headers, method === 'HEAD' ? HOP_BY_HOP : [...HOP_BY_HOP, 'content-length']),
      body: Buffer.from(await reply.body.arrayBuffer()),
    };
    if (!isAdmin) rewrite.response?.(response);
    else if (path === `${ADMIN}namespaces` && response.status === 201) await proxyNamespace(response);
    outgoing.writeHead(response.status, response.headers);
    outgoing.end(response.body);
  };
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    const { method = '', url: path = '', headers: sent } = incoming;
    const headers = without(sent, [...HOP_BY_HOP, 'host', 'content-length']) as ProxiedRequest['headers'];
    incoming.on('close', () => {
      if (incoming.complete) return;
      // The client disconnected in the middle of the request body. The proxy sends the same part to the server and then
      // disconnects as well.
      const body = Buffer.concat(pieces);
      const cut = { rule: '', method, origin: target.baseUrl, path, body };
      hangUp({ ...cut, headers: { ...headers, 'content-length': sent['content-length'] ?? '0' } }, body.length).catch(
        () => undefined,
      );
    });
    incoming.on('end', () => {
      const request = { method, path, headers, body: Buffer.concat(pieces) };
      // If a rewrite throws, close the client's connection, because there is no response to send.
      pass(request, outgoing).catch(() => outgoing.destroy());
    });
  });
  const baseUrl = `http://${await listenOnLoopback(server)}`;
  return {
    target: { ...target, baseUrl, gitUrl: baseUrl, ...(target.adminUrl && { adminUrl: `${baseUrl}/_emulator` }) },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(namespaces.map((proxy) => proxy[Symbol.asyncDispose]()));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pool.destroy();
    },
  };
}
