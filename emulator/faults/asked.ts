import { problem } from '../http/problem.js';

/**
 * What can be asked for, by name. `state`: the repository is treated as being in that state, so each
 * operation answers in its own status and dialect. `quota`: the request is throttled.
 */
export const FAULTS = {
  repository_thawing: { kind: 'state', state: 'thawing', about: 'the repository is being restored from cold storage' },
  sync_in_progress: { kind: 'state', state: 'syncing', about: 'an upstream sync of the repository is running' },
  rate_limited: { kind: 'quota', about: 'the quota is used up: 429 with RateLimit and Retry-After' },
} as const;

export type FaultName = keyof typeof FAULTS;

/** One fault as it was asked for. */
export interface Fault {
  readonly name: FaultName;
  /** How often it fires; Infinity without `*n`. */
  readonly times: number;
  /** How many requests pass before it fires first. */
  readonly skip: number;
  /** Seconds, from `retry-after=N`. */
  readonly retryAfter: number;
  /** The text it was read from: with the caller's identity, the key of its counter. */
  readonly text: string;
}

const FAULT = /^([a-z_]+)(?:\*(\d{1,9}))?(?:\+(\d{1,9}))?((?:;[a-z-]+=[^;,]*)*)$/;

/**
 * Parses a list of faults, separated by commas:
 *
 *     name[*times][+skip][;key=value]
 *
 * Throws `bad_request` that names what is wrong: a fault that is silently ignored proves nothing.
 */
export function parseFaults(value: string): Fault[] {
  return value.split(',').map((part) => {
    const text = part.trim();
    const match = FAULT.exec(text);
    if (!match)
      throw problem('bad_request', `X-Emulator-Fault: ${JSON.stringify(text)} is not name[*times][+skip][;key=value].`);
    const [, name, times, skip, parameters] = match as unknown as [string, string, string?, string?, string?];
    if (!Object.hasOwn(FAULTS, name)) {
      throw problem(
        'bad_request',
        `X-Emulator-Fault: there is no fault ${name}; there are ${Object.keys(FAULTS).join(', ')}.`,
      );
    }
    return {
      name: name as FaultName,
      times: times === undefined ? Number.POSITIVE_INFINITY : Number(times),
      skip: skip === undefined ? 0 : Number(skip),
      retryAfter: readRetryAfter(parameters ?? ''),
      text,
    };
  });
}

function readRetryAfter(parameters: string): number {
  let seconds = 1;
  for (const parameter of parameters.split(';').filter(Boolean)) {
    const [key, value] = parameter.split('=') as [string, string];
    if (key !== 'retry-after')
      throw problem('bad_request', `X-Emulator-Fault: there is no parameter ${key}; there is retry-after.`);
    if (!/^\d{1,9}$/.test(value)) throw problem('bad_request', 'X-Emulator-Fault: retry-after takes whole seconds.');
    seconds = Number(value);
  }
  return seconds;
}
