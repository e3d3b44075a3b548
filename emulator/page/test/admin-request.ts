import type { Started } from './browser.js';

/**
 * Sends a request to the emulator's admin API, without the web page under test. Returns the JSON response. Undefined if
 * the response is empty.
 */
export async function admin({ admin_url }: Pick<Started, 'admin_url'>, method: string, path: string, body?: unknown) {
  const response = await fetch(`${admin_url}/${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return response.status === 204 ? undefined : response.json();
}

/**
 * Returns true if a browser console message is an error of the web page itself. Excludes 400 responses, which the
 * browser logs because the tests send invalid input on purpose.
 */
export const isOwn = (complaint: string) => !complaint.includes('400 (Bad Request)');
