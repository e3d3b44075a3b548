import { tokenClaims, variablesOf, wiringOf } from '../admin/exec-variables.js';
import { readNamed } from '../config/option-values.js';
import { type Flags, optionRows, readOptions } from '../config/options.js';
import type { Emulator } from '../index.js';
import { HOST_FLAGS, readHostFlags } from './built-in-hosts.js';
import { runProgram } from './child-program.js';
import { readOnce, type Starting } from './flags.js';
import { RelayedSignals } from './relayed-signals.js';
import { NOT_SAVED, watchParent, withEmulator } from './run-start.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';
import { signedIfPossible, TOKEN_FLAGS } from './variables.js';

/**
 * Flags of `emulator exec`: the flags of `start`, flags for the token that it creates, and flags for hosts built into
 * clients.
 */
export const EXEC: Starting = {
  command: 'exec',
  flags: [
    ...optionRows(),
    ...Object.keys({ ...TOKEN_FLAGS, ...HOST_FLAGS }).map((flag) => ({ flag, isSwitch: false })),
    { flag: 'verify', isSwitch: true },
  ],
  instead: '; put "--" before the command to run',
};

/**
 * Starts an emulator, runs a program, and stops the emulator when the program ends. Resolves to the program's exit
 * code. If that is 0, resolves to 1 if expectations of the emulator's scenario are not met, or to 4 if the state could
 * not be saved. With `--verify`, a broken rule for clients is an unmet expectation too. Throws `UsageError` if the
 * emulator cannot start.
 */
export async function runExec(flags: Flags, command: readonly string[], terminal: Terminal): Promise<number> {
  const { environment } = terminal;
  // Uses a free port by default, so that several runs of `exec` can be active at once.
  const options = readOptions(flags, { ...environment, EMULATOR_PORT: environment.EMULATOR_PORT || '0' });
  const asked = {
    repo: readOnce('repo', TOKEN_FLAGS.repo.read, flags.repo) ?? TOKEN_FLAGS.repo.default,
    scopes: flags.scopes && readNamed('--scopes', TOKEN_FLAGS.scopes.read, flags.scopes),
  };
  if (command.length === 0) {
    throw new UsageError('exec needs a command after --, as in `emulator exec -- npm test`.');
  }
  const hosts = readHostFlags(flags);
  const isVerified = flags.verify?.at(-1) === 'true';
  if (hosts && options.tlsCert !== undefined) {
    throw new UsageError(
      '--tls-cert cannot be combined with --api-host and --git-host, for which the emulator generates a certificate.',
    );
  }
  const signals = new RelayedSignals();
  const unwatch = options.exitWithParent
    ? await watchParent(() => signals.end(options.limits.drainTimeout))
    : undefined;
  let code: number | undefined;
  try {
    let securePort = 0;
    let trust = '';
    const builtIn = hosts && {
      ...hosts,
      onListening: (port: number, certificate: string) => {
        securePort = port;
        trust = certificate;
      },
    };
    const isSaved = await withEmulator(options, terminal, signals, { hosts: builtIn }, async (emulator) => {
      const { keyFile } = emulator;
      const allowed = options.key.find(({ file }) => file === keyFile)?.allowedScopes ?? ['*'];
      const token = await signedIfPossible(keyFile, () => emulator.token(tokenClaims(asked, allowed)), terminal);
      const own = { ...environment, ...variablesOf({ ...wiringOf(emulator), keyFile, token }) };
      if (!hosts && emulator.ca === undefined) {
        if (!signals.isAsked) code = await runProgram(command, own, { terminal, signals });
      } else {
        const { prepareExecEnvironment: leadHere } = await import('./exec-environment.js');
        const way = await leadHere(hosts, { port: securePort, trust: emulator.ca ?? trust, environment, terminal });
        try {
          if (signals.isAsked) return;
          const scratch = way.folder;
          code = await runProgram(command, { ...own, ...way.variables }, { terminal, signals, scratch });
        } finally {
          await way.close();
        }
      }
      if (code === undefined || !(isVerified || (options.scenario && code === 0))) return;
      const isMet = await verifyRequests(emulator, terminal, isVerified);
      if (code === 0 && !isMet) code = 1;
    });
    if (code === 0 && !isSaved) return NOT_SAVED;
    return code ?? signals.exitCode;
  } finally {
    unwatch?.();
    signals.release();
  }
}

/**
 * Verifies the requests of the program against all running scenarios. With `isVerified`, also against the rules for
 * clients. Returns true if everything is met. Prints the result to standard error if something is not met, and with
 * `isVerified` always.
 */
async function verifyRequests(emulator: Emulator, terminal: Terminal, isVerified: boolean): Promise<boolean> {
  const verification = emulator.verify(isVerified ? { client: true } : {});
  if (!verification.met || isVerified) {
    const { writeVerification } = await import('./commands/verify.js');
    terminal.warn(writeVerification(verification));
  }
  return verification.met;
}
