import type { Started } from './browser.js';

/**
 * Sends a request to the emulator's admin API, independently of the web page under test. Returns the JSON response;
 * undefined if the response is empty.
 */
export async function admin({ admin_url }: Pick<Started, 'admin_url'>, method: string, path: string, body?: unknown) {
  const response = await fetch(`${admin_url}/${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return response.status === 204 ? undefined : response.json();
}

/**
 * Returns true if a message in the browser's console is an error of the web page itself. The tests send invalid input
 * on purpose, and the browser logs the resulting 400 responses too, so these are excluded.
 */
export const isOwn = (complaint: string) => !complaint.includes('400 (Bad Request)');
