import type { Started } from './browser.js';

/** Sends a request to the admin API, independently of the page. Returns the JSON response; undefined if it is empty. */
export async function admin({ admin_url }: Pick<Started, 'admin_url'>, method: string, path: string, body?: unknown) {
  const response = await fetch(`${admin_url}/${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return response.status === 204 ? undefined : response.json();
}

/** Returns true for errors of the page itself. Expected 400 responses, which a browser logs too, are excluded. */
export const isOwn = (complaint: string) => !complaint.includes('400 (Bad Request)');
