import type { KeyRole, TokenRecipe } from '../auth/tokens.js';
import { type Exchange, headerOf } from '../http/exchange.js';
import type { Target } from '../target/target.js';
import { redact } from './redact.js';
import type { TranscriptEntry } from './results.js';

const SHOWN_BYTES = 1500;
const SHOWN_EXCHANGES = 6;

/** The last exchanges of a rule as text, secrets taken out. */
export function writeTranscript(exchanges: readonly Exchange[]): TranscriptEntry[] {
  return exchanges.slice(-SHOWN_EXCHANGES).map((exchange) => ({
    request: redact(
      [
        `${exchange.method} ${exchange.path}`,
        ...Object.entries(exchange.requestHeaders).map(([name, value]) => `${name}: ${value}`),
        ...(exchange.recipe === undefined ? [] : [`(token: ${JSON.stringify(exchange.recipe)})`]),
        '',
        showBody(exchange.requestBody),
      ].join('\n'),
    ),
    response: redact(
      [
        ...(exchange.lost === undefined ? [] : [`(${exchange.lost})`]),
        ...(exchange.status === 0 ? [] : [String(exchange.status)]),
        ...Object.keys(exchange.headers).map((name) => `${name}: ${headerOf(exchange, name)}`),
        '',
        showBody(exchange.body),
      ].join('\n'),
    ),
  }));
}

function showBody(body: Buffer | undefined): string {
  if (body === undefined || body.length === 0) return '';
  const part = body.subarray(0, SHOWN_BYTES);
  const text = part.toString('utf8');
  const shown =
    /[^\P{Cc}\t\r\n]/u.test(text) || text.includes('\ufffd') ? `${part.toString('hex').slice(0, 200)} (hex)` : text;
  return body.length > SHOWN_BYTES ? `${shown}… (${body.length} bytes)` : shown;
}

/** A shell command that repeats one exchange. The token is minted when it runs, so the line holds no secret. */
export function writeCurl(exchange: Exchange, target: Target): string {
  const parts = ['curl', '-sS', '-i', '--path-as-is', '-X', exchange.method];
  for (const [name, value] of Object.entries(exchange.requestHeaders)) {
    if (name === 'authorization') parts.push(...authorizationFlags(exchange, value, target));
    else parts.push('-H', quote(`${name}: ${value}`));
  }
  const { requestBody } = exchange;
  if (requestBody !== undefined) {
    if (requestBody.length <= 4096 && !requestBody.includes(0))
      parts.push('--data-binary', quote(requestBody.toString('utf8')));
    else parts.push('--data-binary', '@body');
  }
  parts.push(quote(exchange.origin + exchange.path));
  return parts.join(' ');
}

function authorizationFlags({ recipe }: Exchange, value: string, target: Target): string[] {
  if (recipe === undefined) return ['-H', quote(redact(`authorization: ${value}`))];
  const token = `$(${writeTokenCommand(recipe, target)})`;
  return value.startsWith('Basic ') ? ['-u', `"t:${token}"`] : ['-H', `"authorization: Bearer ${token}"`];
}

/** The command that makes the same token again. */
function writeTokenCommand(recipe: TokenRecipe, target: Target): string {
  const role = recipe.key ?? 'main';
  const org = role === 'second' ? (target.second?.org ?? target.org) : target.org;
  const { key: _key, ...rest } = { scopes: ['git:read'], lifetime: 600, ...recipe };
  return `npx conformance token --org ${quote(org)} --key ${quote(keyFile(role, target))} --recipe ${quote(JSON.stringify(rest))}`;
}

function keyFile(role: KeyRole, target: Target): string {
  if (role === 'restricted') return target.restrictedKey?.file ?? 'restricted.pem';
  if (role === 'deleted') return target.deletedKey?.file ?? 'deleted.pem';
  if (role === 'second') return target.second?.key.file ?? 'second.pem';
  if (role === 'main') return target.key.file;
  return [target.key, ...target.otherKeys].find((key) => key.algorithm === role)?.file ?? target.key.file;
}

/** One word for a POSIX shell. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
