import type { Started } from './browser.js';

/** A request to the admin API, beside the page: what is answered, undefined where there is nothing. */
export async function admin({ admin_url }: Pick<Started, 'admin_url'>, method: string, path: string, body?: unknown) {
  const response = await fetch(`${admin_url}/${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return response.status === 204 ? undefined : response.json();
}

/** A browser complains of every answer that refuses; some are meant to. */
export const isOwn = (complaint: string) => !complaint.includes('400 (Bad Request)');
