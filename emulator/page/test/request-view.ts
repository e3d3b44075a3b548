import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { type Started, startEmulator } from './browser.js';
import { mint } from './token.js';

const REPO = 'team/app';
const SCOPES = ['repo:write', 'git:write', 'git:read'];

/**
 * Creates a repository in an emulator (`given` or a new one). Returns a function that sends client requests to the
 * emulator.
 */
export async function startClient(t: Test, given?: Started) {
  const emulator = given ?? (await startEmulator(t));
  const token = await mint(emulator, { repo: REPO, scopes: SCOPES, sub: 'ada' });
  const call = (target: string, init: RequestInit = {}) =>
    fetch(emulator.base_url + target, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  await call('/api/repos', { method: 'POST' });
  return { emulator, token, call };
}

/** Elements of the page's request list: the list, a row by name, the details of a request, and the filter field. */
export const requests = (page: Page) => page.getByRole('region', { name: 'Requests, newest first' });
export const row = (page: Page, name: string | RegExp) => requests(page).getByRole('link', { name });
export const detail = (page: Page) => page.getByRole('region', { name: /^Request req-/ });
export const filterOf = (page: Page) => page.getByLabel('Filter', { exact: true });
export const waitForCount = (page: Page, count: number) =>
  page.getByText(`${count} request`, { exact: false }).first().waitFor();

interface Listed {
  readonly id: string;
  readonly status: number;
  readonly origin: string;
}

/** Returns all requests in the emulator's journal (list of recorded requests). */
export async function journalOf({ admin_url }: Started): Promise<readonly Listed[]> {
  const response = await fetch(`${admin_url}/requests?limit=1000`);
  return ((await response.json()) as { items: Listed[] }).items;
}
