import { hostName, list, OptionError, readNamed } from '../config/option-values.js';
import type { Flags } from './command.js';

const hosts = list(plainHost, { least: 1 });

/** Flags of `emulator exec` for clients with built-in host names that cannot be configured. */
export const HOST_FLAGS = {
  'api-host': {
    read: hosts,
    repeatable: true,
    describe:
      'Host name of the API that is built into the client; the emulator responds to HTTPS requests for it; repeatable',
  },
  'git-host': {
    read: hosts,
    repeatable: true,
    describe:
      'Host name of the Git remotes that is built into the client; the emulator responds to HTTPS requests for it; repeatable',
  },
  'proxy-pass': {
    read: hosts,
    repeatable: true,
    describe: 'Other host to which the command may connect by HTTPS; connections to all others are refused; repeatable',
  },
} satisfies Flags;

export interface HostFlags {
  readonly api: readonly string[];
  readonly git: readonly string[];
  /** Other hosts to which the command may connect; `all` for all hosts. */
  readonly passed: readonly string[] | 'all';
}

/**
 * Parses the flags for built-in host names. Returns undefined if none is given. Throws `OptionError` if one is invalid.
 */
export function readHostFlags(
  typed: Readonly<Record<string, readonly string[]>>,
): (HostFlags & { readonly passed: readonly string[] }) | undefined {
  const read = (flag: keyof typeof HOST_FLAGS): readonly string[] =>
    typed[flag] === undefined ? [] : readNamed(`--${flag}`, HOST_FLAGS[flag].read, typed[flag]);
  const [api, git, passed] = [read('api-host'), read('git-host'), read('proxy-pass')];
  if (api.length === 0 && git.length === 0) {
    if (passed.length > 0) throw new OptionError('--proxy-pass requires --api-host or --git-host.');
    return undefined;
  }
  const both = passed.find((host) => api.includes(host) || git.includes(host));
  if (both !== undefined)
    throw new OptionError(`--proxy-pass must not name ${both}, because --api-host or --git-host names it too.`);
  return { api, git, passed };
}

/** Normalizes a host name for comparison: lower case, without a trailing dot. */
function plainHost(given: unknown): string {
  return hostName(given).toLowerCase().replace(/\.$/, '');
}
