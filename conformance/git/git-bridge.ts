import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TokenRecipe } from '../auth/tokens.js';
import type { ApiResponse } from '../check/api-response.js';
import type { RuleContext } from '../check/rule-context.js';
import { basic } from '../http/git-remote.js';
import { listenOnLoopback } from '../http/listen.js';
import { requestGit } from './refs.js';

/**
 * HTTP server on this machine that forwards the requests of a Git process to the Git host of the target. The suite's
 * own HTTP client sends them, so they are rate-limited and recorded like all others. The Git process knows only a
 * password, which the bridge replaces with the token.
 */
export interface GitBridge extends AsyncDisposable {
  /** URL that the Git process uses instead of the Git host, such as `http://t@127.0.0.1:40123`. */
  readonly url: string;
  /** URL of the bridge without a user name, such as `http://127.0.0.1:40123`. Git prints this form in its messages. */
  readonly origin: string;
  /**
   * Random password for the Git process. Git sends it only if the target answers 401 with `WWW-Authenticate: Basic`, as
   * it does with the token in the documented remote URL.
   */
  readonly password: string;
  /** Selects the token for all later requests that have credentials. */
  authorize(recipe: TokenRecipe): void;
  /** Returns the first error of a forwarded request since the last call. Undefined if there was none. */
  takeError(): unknown;
}

/**
 * Headers that are not forwarded, because they describe one connection (RFC 9110, section 7.6.1) or the length of a
 * message.
 */
const NOT_FORWARDED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'expect']);

/** User name in the documented remote URL. */
const USER = 't';

export async function startGitBridge(t: RuleContext): Promise<GitBridge> {
  const password = randomBytes(16).toString('hex');
  let recipe: TokenRecipe | undefined;
  let thrown: unknown;
  const forward = async (request: IncomingMessage): Promise<ApiResponse> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { 'transfer-encoding': transfer, authorization, ...given } = request.headers;
    const headers = Object.entries(given).filter(([name]) => !NOT_FORWARDED.has(name));
    const as = authorization === basic(password, USER) ? recipe : undefined;
    return requestGit(t, request.method as 'GET' | 'POST', request.url ?? '/', as, {
      headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks), chunked: transfer !== undefined }),
    });
  };
  const server = createServer((request, response) => {
    forward(request).then(
      (received) => copyResponse(received, response),
      (error: unknown) => {
        thrown ??= error;
        response.destroy();
      },
    );
  });
  const address = await listenOnLoopback(server);
  return {
    url: `http://${USER}@${address}`,
    origin: `http://${address}`,
    password,
    authorize: (given) => {
      recipe = given;
    },
    takeError: () => {
      const error = thrown;
      thrown = undefined;
      return error;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function copyResponse({ status, body, exchange }: ApiResponse, response: ServerResponse): void {
  const headers = Object.entries(exchange.headers).filter(
    (header): header is [string, string | string[]] => !NOT_FORWARDED.has(header[0]) && header[1] !== undefined,
  );
  response.writeHead(status, Object.fromEntries(headers));
  response.end(body);
}
