import { get, type IncomingMessage } from 'node:http';
import { HEALTH_PATH } from '../admin/path.js';
import { OptionError } from '../config/option-values.js';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** No emulator says more than this about its health. */
const LONGEST_ANSWER = 65_536;

/**
 * Asks the emulator at `url` for its health: undefined when it is ready, otherwise why it is not. The whole answer has
 * to be there within `timeout` milliseconds, however busily something that is no emulator sends.
 */
export async function probe(url: string, timeout = 2000): Promise<string | undefined> {
  const signal = AbortSignal.timeout(Math.ceil(timeout));
  try {
    const response = await ask(new URL(HEALTH_PATH.slice(1), url.endsWith('/') ? url : `${url}/`), signal);
    let body = '';
    for await (const part of response.setEncoding('utf8')) {
      body += String(part);
      if (body.length > LONGEST_ANSWER) return 'the answer is too long';
    }
    return check(response.statusCode, body);
  } catch (error) {
    if (signal.aborted) return `no answer within ${Math.ceil(timeout)} ms`;
    const { message, code } = error as NodeJS.ErrnoException;
    return message || code || 'the connection failed';
  }
}

function ask(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const question = get(url, { agent: false, signal }, resolve).on('error', reject);
    // An answer that was not asked for, such as 101, ends it without any other event.
    question.on('close', () => reject(new Error('the connection was closed without an answer')));
  });
}

function check(status: number | undefined, body: string): string | undefined {
  if (status === 200 && /"emulator"\s*:\s*true/.test(body)) return undefined;
  return `something that is no emulator answered ${status}`;
}

/** An address that can be asked. */
export function readUrl(given: unknown): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' || url.search !== '' || url.hash !== '') {
    throw new OptionError(`has to be an http address such as ${DEFAULT_URL}, not ${JSON.stringify(given)}`);
  }
  return String(given);
}
