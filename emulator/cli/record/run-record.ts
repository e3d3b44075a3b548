import { OptionError, readNamed, size, text } from '../../config/option-values.js';
import type { Flags as GivenFlags } from '../../config/options.js';
import { MAX_BODY_BYTES } from '../../journal/captured-body.js';
import { HOST_FLAGS } from '../built-in-hosts.js';
import { runProgram } from '../child-program.js';
import type { Flags } from '../command.js';
import { readOnce, type Starting } from '../flags.js';
import { RelayedSignals } from '../relayed-signals.js';
import type { Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';
import { openOutputFile } from './output-file.js';
import type { Recording } from './recording.js';
import type { Deployment } from './recording-proxy.js';

const fileName = text('the name of a file');

/** Flags of `emulator record`. */
export const RECORD_FLAGS = {
  'api-url': { read: originUrl, describe: 'URL of the deployment to record, such as https://api.example.com' },
  'git-url': { read: originUrl, describe: 'URL of its Git remotes; default: the URL of --api-url' },
  out: { read: fileName, describe: 'File for the recording (HTTP Archive), which must not exist' },
  'max-body': {
    read: size,
    describe: `Maximum size of a recorded body, such as 1MiB; default ${MAX_BODY_BYTES / 1024}KiB`,
  },
  'keep-git-bodies': { describe: 'Record the bodies of Git responses, which contain source code' },
  'api-host': {
    ...HOST_FLAGS['api-host'],
    describe: 'Host name of the API that is built into the client; default: host of an https --api-url; repeatable',
  },
  'git-host': {
    ...HOST_FLAGS['git-host'],
    describe: 'Host name of Git remotes that is built into the client; default: host of an https --git-url; repeatable',
  },
} satisfies Flags;

export const RECORD: Starting = {
  command: 'record',
  flags: Object.entries(RECORD_FLAGS).map(([flag, row]) => ({ flag, isSwitch: !('read' in row) })),
  instead: '; put "--" before the command to run',
};

/**
 * Runs a program whose requests go through a recording proxy to a deployment. Writes the recording when the program
 * ends. Resolves to the program's exit code. Throws `UsageError` if the recording cannot be made.
 */
export async function runRecord(given: GivenFlags, command: readonly string[], terminal: Terminal): Promise<number> {
  const apiUrl = readOnce('api-url', originUrl, given['api-url']);
  const gitUrl = readOnce('git-url', originUrl, given['git-url']) ?? apiUrl;
  const out = readOnce('out', fileName, given.out);
  const maxBody = readOnce('max-body', size, given['max-body']) ?? MAX_BODY_BYTES;
  if (apiUrl === undefined || gitUrl === undefined) throw new UsageError('record needs --api-url URL.');
  if (out === undefined) throw new UsageError('record needs --out FILE.');
  if (command.length === 0) {
    throw new UsageError(
      'record needs a command after --, as in `emulator record --api-url URL --out FILE -- npm test`.',
    );
  }
  const deployment: Deployment = {
    apiUrl,
    gitUrl,
    apiHosts: hostsOf(apiUrl, readHosts('api-host', given)),
    gitHosts: hostsOf(gitUrl, readHosts('git-host', given)),
  };
  const file = await openOutputFile('--out', out);
  // Loaded only now, so that an invalid command line is reported without delay.
  const { Recording } = await import('./recording.js');
  const recording = new Recording({ maxBody, keepsGitBodies: given['keep-git-bodies']?.at(-1) === 'true' });
  const signals = new RelayedSignals();
  let code: number | undefined;
  try {
    code = await record({ deployment, recording, command, terminal, signals });
    await file.write(recording.toHar());
  } catch (error) {
    await file.discard();
    throw error;
  } finally {
    signals.release();
  }
  terminal.warn(describe(recording, out));
  return code ?? signals.exitCode;
}

interface Run {
  readonly deployment: Deployment;
  readonly recording: Recording;
  readonly command: readonly string[];
  readonly terminal: Terminal;
  readonly signals: RelayedSignals;
}

/** Runs the program. Resolves to its exit code, or to undefined if a signal arrives before it starts. */
async function record({ deployment, recording, command, terminal, signals }: Run): Promise<number | undefined> {
  const { environment } = terminal;
  const { startRecordingProxy } = await import('./recording-proxy.js');
  const { prepareExecEnvironment } = await import('../exec-environment.js');
  const proxy = await startRecordingProxy(deployment, recording, environment);
  try {
    const { apiHosts: api, gitHosts: git } = deployment;
    const hosts = api.length + git.length > 0 ? ({ api, git, passed: 'all' } as const) : undefined;
    const way = await prepareExecEnvironment(hosts, {
      port: proxy.securePort,
      trust: proxy.trust,
      environment,
      terminal,
    });
    try {
      if (signals.isAsked) return undefined;
      const addresses = {
        EMULATOR_URL: proxy.url,
        EMULATOR_GIT_URL: proxy.url,
        EMULATOR_HTTPS_URL: proxy.secureUrl,
        EMULATOR_HTTPS_GIT_URL: proxy.secureUrl,
      };
      const variables = { ...environment, ...addresses, ...way.variables };
      return await runProgram(command, variables, { terminal, signals, scratch: way.folder });
    } finally {
      await way.close();
    }
  } finally {
    await proxy.close();
  }
}

function describe({ size: count, dropped }: Recording, out: string): string {
  const more = dropped > 0 ? ` ${dropped} later exchanges are missing, because the recording was full.` : '';
  if (count === 0) {
    return `${out} contains no exchange, because the command sent no request to EMULATOR_URL or EMULATOR_GIT_URL.\n`;
  }
  return `Recorded ${count} ${count === 1 ? 'exchange' : 'exchanges'} in ${out}.${more}\n`;
}

function readHosts(flag: 'api-host' | 'git-host', given: GivenFlags): readonly string[] {
  const typed = given[flag];
  return typed === undefined ? [] : readNamed(`--${flag}`, HOST_FLAGS[flag].read, typed);
}

/** Adds the host of the deployment, because clients may have it built in. Clients reach hosts without HTTPS directly. */
function hostsOf({ protocol, hostname, port }: URL, given: readonly string[]): readonly string[] {
  return [...new Set([...given, ...(protocol === 'https:' && port === '' ? [hostname] : [])])];
}

/** Reads the URL of a deployment, which consists only of a scheme, a host and a port. */
function originUrl(given: unknown): URL {
  // Checked first, so that no error message contains a password.
  if (String(given).includes('@')) {
    throw new OptionError('must not contain a user name or password, because the command sends its own credentials');
  }
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new OptionError(`must be an http or https URL such as https://api.example.com, not ${JSON.stringify(given)}`);
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new OptionError(`must have no path, such as ${url.origin}, not ${JSON.stringify(given)}`);
  }
  return url;
}
