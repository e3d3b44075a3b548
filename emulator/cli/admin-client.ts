import { readNamed, secret, text } from '../config/option-values.js';
import { AdminApi, type AdminApiError } from '../connect/admin-api.js';
import type { Flags } from './command.js';
import { DEFAULT_URL, readUrl } from './probe.js';
import type { Terminal } from './terminal.js';
import { Unreached, UsageError } from './usage-error.js';

/** Flags of every command that contacts an emulator. */
export const EMULATOR_FLAGS = {
  url: {
    read: readUrl,
    describe: `Base address of the running emulator; default: the variable EMULATOR_URL, otherwise ${DEFAULT_URL}`,
  },
  'admin-token': {
    read: secret('a token of printable ASCII characters without spaces', /^[\x21-\x7e]+$/),
    describe: 'Token for the admin routes of the emulator; default: the variable EMULATOR_ADMIN_TOKEN',
  },
  json: { describe: 'Print the result as JSON' },
} satisfies Flags;

/** Flags of commands that can also work in a namespace. */
export const ADMIN_FLAGS = {
  ...EMULATOR_FLAGS,
  namespace: {
    read: text('the id of a namespace', /^[a-z0-9-]{1,63}$/),
    describe: 'Id of the namespace (isolated copy of the service) to use; default: the emulator itself',
  },
} satisfies Flags;

export interface AdminAddress {
  readonly url: string | undefined;
  readonly 'admin-token': string | undefined;
  readonly namespace?: string | undefined;
}

/**
 * Returns the emulator's address: `given` (flag --url), otherwise EMULATOR_URL, otherwise the default. Throws
 * `OptionError` if EMULATOR_URL is invalid.
 */
export function findUrl(given: string | undefined, { environment }: Terminal): string {
  const { EMULATOR_URL } = environment;
  if (given !== undefined || !EMULATOR_URL) return given ?? DEFAULT_URL;
  return readNamed('EMULATOR_URL', readUrl, EMULATOR_URL);
}

export { type ListPage, withQuery } from '../connect/admin-api.js';

/**
 * Client of one emulator's admin API for commands. Methods throw `Unreached` if the emulator does not respond, and
 * `UsageError` with the reason if it refuses the request.
 */
export class AdminClient extends AdminApi {
  constructor(address: AdminAddress, terminal: Terminal) {
    const { environment } = terminal;
    super({
      url: findUrl(address.url, terminal),
      adminToken: address['admin-token'] ?? environment.EMULATOR_ADMIN_TOKEN,
      namespace: address.namespace,
      environment,
    });
  }

  protected override refusal({ message, status }: AdminApiError): Error {
    return new UsageError(
      `${message}${status === 401 ? ' Pass the token in --admin-token or EMULATOR_ADMIN_TOKEN.' : ''}`,
    );
  }

  protected override unreached(message: string): Error {
    return new Unreached(message);
  }
}

/** Prints a value as indented JSON, as the flag `--json` demands. */
export function printJson({ print }: Terminal, value: unknown): void {
  print(`${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Returns the action that the user typed after a command. Without one, returns `standard`. Throws `UsageError` if the
 * action is unknown, or missing without a `standard`.
 */
export function readAction<const Action extends string>(
  command: string,
  given: string | undefined,
  actions: readonly Action[],
  standard?: Action,
): Action {
  const action = given ?? standard;
  const found = actions.find((known) => known === action);
  if (found !== undefined) return found;
  const what =
    action === undefined ? `${command} requires an action` : `${command} has no action ${JSON.stringify(action)}`;
  throw new UsageError(`${what}. Its actions are ${actions.join(', ')}.`);
}

/**
 * Returns the argument after the action of a command. `wanted` describes the argument; undefined if the action takes
 * none. Throws `UsageError` if the argument is missing or superfluous.
 */
export function readValue(command: string, given: string | undefined, wanted: string | undefined): string {
  if (wanted === undefined && given !== undefined) {
    throw new UsageError(`${command} takes no further argument, but got ${JSON.stringify(given)}.`);
  }
  if (wanted !== undefined && given === undefined) throw new UsageError(`${command} needs ${wanted}.`);
  return given ?? '';
}
