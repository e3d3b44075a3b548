import type { KeyRecord } from '@emulator/admin/keys.js';
import type { MintedToken } from '@emulator/admin/tokens.js';
import { ApiError, all, get, type Page, post, route } from '../api/client.js';
import type { Entry } from './entry.js';
import { tokenClaims } from './repeat-command.js';
import { bodyOfDraft, type Draft, REFUSED_METHODS, readHeaders, urlOfDraft } from './request-draft.js';

/**
 * Sends the edited request from this page to the service. Resolves to the id of the new request after its response has
 * ended. `scopes` are those that the operation needs.
 */
export async function sendAgain(entry: Entry, draft: Draft, scopes: readonly string[] | undefined): Promise<string> {
  const method = draft.method.trim().toUpperCase();
  if (REFUSED_METHODS.has(method)) throw new Error(`Browsers refuse to send the method ${method}.`);
  const url = urlOfDraft(draft, location.origin);
  const body = bodyOfDraft(entry, { ...draft, method });
  const headers = readHeaders(draft.headers);
  const token = draft.source === 'new' ? await newToken(entry, scopes) : draft.source === 'given' && draft.token.trim();
  if (token) {
    headers.set('authorization', entry.token?.scheme === 'basic' ? `Basic ${btoa(`t:${token}`)}` : `Bearer ${token}`);
  }
  const [last] = await newest({});
  const response = await fetch(url, {
    method,
    headers,
    ...(body && { body }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'manual',
  }).catch(() => undefined);
  await response?.body?.pipeTo(new WritableStream()).catch(() => {});
  const id = response?.headers.get('x-request-id') ?? undefined;
  return waitForEnd(async () => {
    if (id !== undefined) return get<Entry>(route`requests/${id}`);
    return (await newest({ method, path: draft.path, after: last?.id }))[0];
  });
}

async function newest(query: Readonly<Record<string, string | undefined>>): Promise<readonly Entry[]> {
  return (await get<Page<Entry>>('requests', { query: { ...query, order: 'newest', limit: 1, bodies: false } })).items;
}

/** Number of times that the page looks for the end of the new request in the journal, and the pause between them. */
const TRIES = 30;
const PAUSE_MS = 100;

/**
 * Waits until the journal has the whole new request, because its bodies are recorded only when its response has ended.
 * A response that is still open after `TRIES` tries is shown as it is.
 */
async function waitForEnd(read: () => Promise<Entry | undefined>): Promise<string> {
  let entry: Entry | undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    entry = await read();
    if (entry !== undefined && entry.outcome !== 'open') break;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  if (entry === undefined)
    throw new ApiError(0, 'The connection ended, and the journal has no new request. Is the emulator still running?');
  return entry.id;
}

/**
 * Creates a token for the claims of the recorded one. Throws if the organization has no key with which the emulator can
 * sign: the private keys of registered keys are unknown to it.
 */
async function newToken(entry: Entry, scopes: readonly string[] | undefined): Promise<string> {
  const { token, key } = await post<MintedToken>('tokens', tokenClaims(entry, scopes));
  const { organization } = entry;
  const keys = await all<KeyRecord>('keys', { query: { organization } });
  if (keys.some(({ id }) => id === key)) return token;
  throw new Error(
    `The emulator cannot sign a token for the organization ${organization}, because the organization has no test key. Enter a token that you have signed yourself.`,
  );
}
