import { quoteBytes, quoted, quoteWord } from '../api/shell.js';
import { hasUnseen } from '../components/marked-text.js';
import type { Body, Entry } from './entry.js';

/**
 * Shell commands that send a recorded request again. `notes` are sentences that tell the user how the new request
 * differs from the recorded one.
 */
export interface CurlCommand {
  readonly text: string;
  readonly notes: readonly string[];
}

export interface CurlOptions {
  /** Origin of the emulator that receives the request, such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Scopes (permissions) that the token of the repeated request needs. */
  readonly scopes?: readonly string[] | undefined;
  /** Token that is written into the command. If undefined, the command itself creates a token. */
  readonly token?: string | undefined;
}

/** Text that stands in the journal in place of a secret. */
export const REDACTED = '[redacted]';

/** Pattern for headers that the curl command omits, because curl sets them itself. */
const WRITTEN_BY_CURL = /^(?:connection|content-length|expect|host|transfer-encoding)$/i;

export function curlCommand(entry: Entry, { origin, scopes, token }: CurlOptions): CurlCommand {
  const { method, path, query, request, httpVersion } = entry;
  const body = bodyOf(request.body, request.bytes);
  const target = query === '' ? path : `${path}?${query}`;
  const words = [
    ...methodWords(method, body !== undefined),
    ...(httpVersion === '1.0' ? [['--http1.0']] : []),
    ...headerWords(entry, new URL(origin).host, body !== undefined),
    ...(body ? [body.words] : []),
    ...targetWords(target, origin),
  ];
  const command = `${body?.before ?? ''}curl -sS -i${words.map((word) => ` \\\n  ${word.join(' ')}`).join('')}`;
  return {
    text: `${tokenLine(entry, scopes, token)}${command}`,
    notes: [...(body?.notes ?? []), ...redactionNotes(entry, target)],
  };
}

/**
 * Returns a shell line that sets the variable `TOKEN`: to `token` if given, otherwise to a new token. Returns an empty
 * string instead of a line if the recorded request had no token.
 */
function tokenLine(entry: Entry, scopes: CurlOptions['scopes'], token: string | undefined): string {
  return hasToken(entry) ? `TOKEN=${token ?? `$(${tokenCommand(entry, scopes)})`}\n` : '';
}

/**
 * Returns the body of `POST tokens` for a token with the claims of the recorded request's token. The original token
 * cannot be sent again, because the journal does not store it.
 */
export function tokenClaims({ token, organization }: Entry, scopes: readonly string[] | undefined) {
  return {
    ...(organization !== undefined && { org: organization }),
    repo: token?.repository,
    ...(isBeyondGit(scopes) && { scopes: [...new Set([...scopes, ...GIT_SCOPES])] }),
    ...(token?.subject !== undefined && { sub: token.subject }),
  };
}

/**
 * Scopes (permissions) that a new token has by default. They suffice for all Git requests: a fetch needs `git:read`,
 * and a push needs `git:write`.
 */
const GIT_SCOPES = ['git:read', 'git:write'];

function isBeyondGit(scopes: readonly string[] | undefined): scopes is readonly string[] {
  return scopes?.some((scope) => !GIT_SCOPES.includes(scope)) ?? false;
}

export function hasToken({ request }: Entry): boolean {
  return request.headers.some(([name]) => name.toLowerCase() === 'authorization');
}

function tokenCommand(entry: Entry, scopes: readonly string[] | undefined): string {
  const claims = Object.entries(tokenClaims(entry, scopes));
  const flags = claims.map(([name, value]) => (value === undefined ? `--no-${name}` : `--${name}=${value}`));
  return ['npx', 'emulator', 'token', ...flags].map(quoteWord).join(' ');
}

function methodWords(method: string, hasBody: boolean): string[][] {
  if (method === 'HEAD') return [['--head']];
  return method === (hasBody ? 'POST' : 'GET') ? [] : [['-X', quoteBytes(method)]];
}

function headerWords({ request, token }: Entry, host: string, hasBody: boolean): string[][] {
  const words: string[][] = [];
  for (const [name, value] of request.headers) {
    const known = name.toLowerCase();
    if (known === 'authorization') {
      words.push(token?.scheme === 'basic' ? ['-u', '"t:$TOKEN"'] : ['-H', '"Authorization: Bearer $TOKEN"']);
    } else if (value === REDACTED) words.push(['-H', `"${name}: $${variableOf(name)}"`]);
    else if (known === 'host' ? value !== host : !WRITTEN_BY_CURL.test(name) && !isOfCurl(known, value)) {
      // A header without a value is written as `Name;`, because curl would remove the header for `Name:`.
      words.push(['-H', quoteBytes(value === '' ? `${name};` : `${name}: ${value}`)]);
    }
  }
  // If the request had a body but no Content-Type, curl's default (`application/x-www-form-urlencoded`) is removed.
  const hasType = request.headers.some(([name]) => name.toLowerCase() === 'content-type');
  return hasBody && !hasType ? [...words, ['-H', "'Content-Type:'"]] : words;
}

function isOfCurl(name: string, value: string): boolean {
  return (name === 'accept' && value === '*/*') || (name === 'user-agent' && value.startsWith('curl/'));
}

/**
 * Converts the name of a header to the name of a shell variable: `X-Api-Key` → `X_API_KEY`. The command takes the value
 * of the header from this variable, because the journal has redacted the value.
 */
function variableOf(name: string): string {
  return name.toUpperCase().replaceAll(/\W/g, '_').replace(/^\d/, '_$&');
}

/**
 * Returns the arguments of curl for the path and query of a request. curl would change some targets, because of dots,
 * globs or a fragment. Such a target is passed with `--request-target`, which curl sends unchanged.
 */
function targetWords(target: string, origin: string): string[][] {
  if (/^\/(?:[\w.~:/?@!$&'()*+,;=%-])*$/.test(target) && !/(?:^|\/)\.\.?(?:[/?]|$)/.test(target)) {
    return [[quoteBytes(origin + target)]];
  }
  return [['--request-target', quoteBytes(target)], [quoteBytes(`${origin}/`)]];
}

/**
 * Maximum length in UTF-16 code units of a body that is passed to curl as an argument. A longer body is piped into
 * curl, because Linux limits an argument to 131,072 bytes (MAX_ARG_STRLEN).
 */
const LONGEST_ARGUMENT = 100_000;

interface BodyWords {
  readonly words: string[];
  /** Start of the shell command line that pipes the body into curl; undefined if the body is an argument of curl. */
  readonly before?: string;
  readonly notes: readonly string[];
}

function bodyOf(body: Body | undefined, bytes: number): BodyWords | undefined {
  if (body === undefined || bytes === 0) return undefined;
  const notes = body.truncated
    ? [`The journal has only the first 64 KiB of the body, which had ${bytes} bytes: append the rest.`]
    : [];
  const isPlain = body.encoding === 'utf8' && !hasUnseen(body.text, { hasLines: true }) && !body.text.includes('\t');
  if (isPlain) {
    const plain = body.text.includes('\n') ? quoted(body.text) : quoteWord(body.text);
    if (plain.length <= LONGEST_ARGUMENT) return { words: ['--data-raw', plain], notes };
  }
  const encoded = body.encoding === 'base64' ? body.text : base64Of(body.text);
  return { words: ['--data-binary', '@-'], before: `printf %s ${encoded} | base64 -d | `, notes };
}

function base64Of(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function redactionNotes({ request }: Entry, target: string): string[] {
  const places = [
    target.includes(REDACTED) && 'the target',
    request.headers.some(([, value]) => value !== REDACTED && value.includes(REDACTED)) && 'a header',
    request.body?.text.includes(REDACTED) && 'the body',
  ].filter((place) => typeof place === 'string');
  return places.length === 0 ? [] : [`A secret was in ${places.join(' and in ')}: replace the marker ${REDACTED}.`];
}

/**
 * Returns true for the request of a push that contains the pack. The journal does not store packs, so such a request is
 * repeated with `git push` instead of curl.
 */
export function isPush({ operation }: Entry): boolean {
  return operation === 'gitReceivePack';
}

/**
 * Returns a `git push` command that repeats a recorded push: it pushes the recorded commits to the recorded refs. It
 * must be run in a clone that has these commits.
 */
export function pushCommand(entry: Entry, { origin, scopes, token }: CurlOptions): CurlCommand {
  const { updates = [], counts } = entry.git ?? {};
  const { protocol, host } = new URL(origin);
  const user = hasToken(entry) ? 't:$TOKEN@' : '';
  const remote = `${protocol}//${user}${host}${quoteBytes(entry.path.replace(/\/git-receive-pack$/, ''))}`;
  const specs = updates.map(({ ref, new: id }) => quoteWord(`${/^0+$/.test(id) ? '' : id}:${ref}`));
  const left = (counts?.updates ?? 0) - updates.length;
  return {
    text: `${tokenLine(entry, scopes, token)}${[`git push ${remote}`, ...(specs.length > 0 ? specs : ['HEAD'])].join(' \\\n  ')}`,
    notes: [
      specs.length > 0
        ? 'Run it in the clone that pushed. Git sends nothing if the refs are up to date.'
        : 'The emulator did not read which refs were pushed: run it in the clone that pushed, on its branch.',
      ...(left > 0 ? [`The push had ${left} more refs, which the journal does not store.`] : []),
    ],
  };
}
