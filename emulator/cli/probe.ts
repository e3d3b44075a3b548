import { HEALTH_PATH } from '../admin/path.js';
import { OptionError } from '../config/option-values.js';
import { ask, complaintOf } from '../connect/ask.js';
import type { Terminal } from './terminal.js';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Maximum number of bytes to read of the response to a health check. */
const MAX_RESPONSE_LENGTH = 65_536;

/**
 * Checks the health of the emulator at `url`. Returns undefined if it is ready, otherwise the reason why not. The whole
 * response must arrive within `timeout` milliseconds, even from a server that is not an emulator and never stops
 * sending.
 */
export async function probe(
  url: string,
  { environment }: Pick<Terminal, 'environment'>,
  timeout = 2000,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(Math.ceil(timeout));
  const health = new URL(HEALTH_PATH.slice(1), url.endsWith('/') ? url : `${url}/`);
  try {
    const response = await ask(health, environment, { signal }, (question) => question.end());
    let body = '';
    for await (const part of response.setEncoding('utf8')) {
      body += String(part);
      if (body.length > MAX_RESPONSE_LENGTH)
        return `the server is not an emulator (its response has more than ${MAX_RESPONSE_LENGTH} characters)`;
    }
    return check(response.statusCode, body);
  } catch (error) {
    if (signal.aborted) return `no response within ${Math.ceil(timeout)} ms`;
    return complaintOf(health, error);
  }
}

function check(status: number | undefined, body: string): string | undefined {
  if (status === 200 && /"emulator"\s*:\s*true/.test(body)) return undefined;
  return `the server is not an emulator (it answered ${status})`;
}

/** Parses an http or https address. */
export function readUrl(given: unknown): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (!/^https?:$/.test(url?.protocol ?? '') || url!.search !== '' || url!.hash !== '') {
    throw new OptionError(`must be an http or https address such as ${DEFAULT_URL}, not ${JSON.stringify(given)}`);
  }
  return String(given);
}
