import { createPublicKey, verify } from 'node:crypto';
import { type KeyRole, keysOf, type TokenRecipe } from '../auth/tokens.js';
import { type Exchange, isRecord, type JsonRecord } from '../http/exchange.js';
import { parseJson } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';
import { redact, redactBytes, TOKEN } from './redact.js';
import { type Part, printCommand, quote, quoteParts } from './shell.js';

/**
 * Returns a one-line shell command that repeats a request with curl. Returns undefined if the request body is too large
 * for a command. The command contains no secret, because it creates its tokens when it runs. `seconds`: time of the
 * request in seconds since the epoch.
 */
export function writeCurl(exchange: Exchange, target: Target, seconds: number): string | undefined {
  const { method, requestHeaders, requestBody } = exchange;
  const isHead = method === 'HEAD' && requestBody === undefined;
  // `-g` disables curl's globbing of brackets and braces. `--path-as-is` keeps `..` in paths.
  const words = ['curl', '-sS', '-i', '-g', '--path-as-is', ...(isHead ? ['--head'] : ['-X', quote(method)])];
  const mint = (text: string) => withTokens(text, exchange, target, seconds);
  for (const [name, value] of Object.entries(requestHeaders)) {
    if (name.toLowerCase() === 'authorization') words.push(...authorizationWords(name, value, mint));
    // curl removes a header that has no value. A semicolon instead of the colon makes it send the header with an empty
    // value.
    else words.push('-H', value === '' ? quote(`${name};`) : quoteParts([`${name}: `, ...mint(value)]));
  }
  const body = bodyOf(exchange);
  const sent = body === undefined ? undefined : redactBytes(body).toString('latin1');
  const isWord = sent === undefined || ONE_WORD.test(sent);
  const pipe = isWord ? '' : printCommand(Buffer.from(sent, 'latin1'));
  if (pipe === undefined) return undefined;
  if (body !== undefined) {
    const names = Object.keys(requestHeaders).map((name) => name.toLowerCase());
    if (!names.includes('content-type')) words.push('-H', 'content-type:');
    if (body.length > 1024) words.push('-H', 'expect:');
    words.push('--data-binary', isWord ? quote(sent ?? '') : '@-');
  }
  words.push(...addressWords(exchange, mint));
  return isWord ? words.join(' ') : `${pipe} | ${words.join(' ')}`;
}

/**
 * Matches bodies that fit on the command line: up to 4096 printable ASCII characters. A leading `@` is excluded,
 * because curl would read it as a file name.
 */
const ONE_WORD = /^(?!@)[\x20-\x7e]{0,4096}$/;

/**
 * Returns the request body; undefined if absent. For POST, PUT and PATCH without a body, returns an empty one,
 * because the suite's HTTP client (undici) then sent `Content-Length: 0`.
 */
function bodyOf({ method, requestBody }: Exchange): Buffer | undefined {
  return requestBody ?? (['POST', 'PUT', 'PATCH'].includes(method) ? Buffer.alloc(0) : undefined);
}

/** Matches paths that curl sends unchanged. Other paths need the option `--request-target`. */
const PLAIN_PATH = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%/?[\]-]*$/;

function addressWords({ origin, path }: Exchange, mint: (text: string) => Part[]): string[] {
  const parts = mint(path);
  if (PLAIN_PATH.test(path)) return [quoteParts([redact(origin), ...parts])];
  return ['--request-target', quoteParts(parts), quote(`${redact(origin)}/`)];
}

function authorizationWords(name: string, value: string, mint: (text: string) => Part[]): string[] {
  const [, scheme = '', encoded] = /^(Basic) +([A-Za-z0-9+/=]+)$/i.exec(value) ?? [];
  if (encoded === undefined) return ['-H', quoteParts([`${name}: `, ...mint(value)])];
  const parts = mint(Buffer.from(encoded, 'base64').toString('latin1'));
  if (!parts.some((part) => typeof part !== 'string')) return ['-H', quote(redact(`${name}: ${value}`))];
  if (scheme === 'Basic' && name === 'authorization') return ['-u', quoteParts(parts)];
  const command = `printf %s ${quoteParts(parts)} | base64 | tr -d '\\n'`;
  return ['-H', quoteParts([`${name}: ${scheme} `, { command }])];
}

/**
 * Splits a text at its tokens. Each token becomes a shell command that creates an equivalent token. If no command can
 * create it, the token becomes `<token>`. Secrets in the rest of the text are removed.
 */
function withTokens(text: string, exchange: Exchange, target: Target, seconds: number): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    parts.push(redact(text.slice(end, match.index)));
    end = match.index + match[0].length;
    const recipe = exchange.recipe ?? recipeOf(match[0], target);
    parts.push(recipe === undefined ? '<token>' : { command: tokenCommand(recipe, target, seconds) });
  }
  return [...parts, redact(text.slice(end))].filter((part) => part !== '');
}

/**
 * Reconstructs the recipe (description) of a token that a rule composed itself. Returns undefined if no key of the
 * target signed the token.
 */
function recipeOf(token: string, target: Target): TokenRecipe | undefined {
  const [head = '', payload = '', signature = ''] = token.split('.');
  const [header, claims] = [head, payload].map(readPart);
  if (header === undefined || claims === undefined) return undefined;
  const signer = [...keysOf(target)].find(([, key]) => isSignedBy(key, `${head}.${payload}`, signature));
  return signer && { key: signer[0], header, claims };
}

function readPart(part: string): JsonRecord | undefined {
  const value = parseJson(Buffer.from(part, 'base64url').toString('utf8'));
  return isRecord(value) ? value : undefined;
}

function isSignedBy({ algorithm, privateKey }: SigningKey, input: string, signature: string): boolean {
  const key = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' } as const;
  return verify(`sha${algorithm.slice(2)}`, Buffer.from(input), key, Buffer.from(signature, 'base64url'));
}

/**
 * Returns a shell command that creates a token from this recipe (description). `seconds`: time of the request in
 * seconds since the epoch.
 */
function tokenCommand(recipe: TokenRecipe, target: Target, seconds: number): string {
  const role = recipe.key ?? 'main';
  const org = role === 'second' ? (target.second?.org ?? target.org) : target.org;
  const { key: _key, ...rest } = { scopes: ['git:read'], lifetime: 600, ...withRelativeTimes(recipe, seconds) };
  const words = ['npx', 'conformance', 'token', ...keyWords(role, org, target), '--recipe', JSON.stringify(rest)];
  return words.map(quote).join(' ');
}

/**
 * Ten years in seconds. A token time further from the present is deliberately wrong, so commands repeat it unchanged.
 */
const FAR = 315_360_000;

/**
 * Replaces the times in a token recipe by offsets from `seconds`, such as `{"from_now": 60}`. A command that runs later
 * then creates a token with the same remaining lifetime.
 */
export function withRelativeTimes(recipe: TokenRecipe, seconds: number): TokenRecipe {
  if (recipe.claims === undefined) return recipe;
  const claims = Object.entries(recipe.claims).map(([name, value]) => {
    const isTime = ['iat', 'exp', 'nbf'].includes(name) && typeof value === 'number';
    if (!isTime || Math.abs(value - seconds) > FAR) return [name, value] as const;
    return [name, { from_now: value - seconds }] as const;
  });
  return { ...recipe, claims: Object.fromEntries(claims) };
}

/**
 * Replaces the offsets that `withRelativeTimes` made by absolute times. `seconds`: time of signing in seconds since the
 * epoch.
 */
export function withAbsoluteTimes(recipe: TokenRecipe, seconds: number): TokenRecipe {
  if (!isRecord(recipe.claims)) return recipe;
  const claims = Object.entries(recipe.claims).map(([name, value]) => {
    const distance = isRecord(value) ? value.from_now : undefined;
    return [name, typeof distance === 'number' ? seconds + distance : value] as const;
  });
  return { ...recipe, claims: Object.fromEntries(claims) };
}

/**
 * Returns command-line words that select the signing key and its organization. They contain no secret, only the name of
 * the file or environment variable that has the key.
 */
function keyWords(role: KeyRole, org: string, target: Target): string[] {
  const key = keysOf(target).get(role) ?? target.key;
  if (key.targetFile !== undefined)
    return ['--target', key.targetFile, '--org', org, ...(role === 'main' ? [] : ['--role', role])];
  if (key.env !== undefined) return ['--org', org, '--key-env', key.env];
  return ['--org', org, '--key', key.file];
}
