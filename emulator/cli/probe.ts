import { get } from 'node:http';
import { UsageError } from './usage-error.js';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Asks the emulator at `url` for its health: undefined when it is ready, otherwise why it is not. */
export function probe(url: string, timeout = 2000): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(`${url.replace(/\/+$/, '')}/_emulator/health`, { agent: false, timeout }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        body += part;
        // No emulator says this much.
        if (body.length > 65_536) request.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => resolve(judge(response.statusCode, body)));
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeout} ms`)));
    request.on('error', (error) => resolve(error.message || 'the connection failed'));
  });
}

function judge(status: number | undefined, body: string): string | undefined {
  if (status === 200 && /"emulator"\s*:\s*true/.test(body)) return undefined;
  return `something that is no emulator answered ${status}`;
}

/** Throws `UsageError` unless `url` can be asked. */
export function checkUrl(url: string): void {
  if (!URL.canParse(url) || new URL(url).protocol !== 'http:') {
    throw new UsageError(`--url has to be an http address such as ${DEFAULT_URL}, not ${JSON.stringify(url)}.`);
  }
}
