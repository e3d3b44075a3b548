import { setTimeout as pause } from 'node:timers/promises';
import type { CommandModule } from 'yargs';
import { duration, OptionError } from '../option-values.js';
import { checkUrl, DEFAULT_URL, probe } from './probe.js';
import type { Session } from './session.js';

/** Pause between two questions, in milliseconds: short at first, as most emulators are about to be ready. */
const PAUSES = { first: 20, longest: 250 };

/** `emulator wait`: exit 0 as soon as an emulator answers, 1 when none does in time. */
export function waitCommand(session: Session): CommandModule<object, { url: string; timeout: string }> {
  return {
    command: 'wait',
    describe: 'Wait until the emulator at --url answers; exit 1 if it does not in time',
    builder: (command) =>
      command
        .option('url', { type: 'string', requiresArg: true, default: DEFAULT_URL, describe: 'Its base address' })
        .option('timeout', { type: 'string', requiresArg: true, default: '30s', describe: 'How long to wait' }),
    handler: async ({ url, timeout }) => {
      checkUrl(url);
      const complaint = await waitFor(url, readTimeout(timeout));
      if (complaint === undefined) return;
      session.terminal.warn(`No emulator at ${url} within ${timeout}: ${complaint}.\n`);
      session.exitCode = 1;
    },
  };
}

async function waitFor(url: string, timeout: number): Promise<string | undefined> {
  const deadline = performance.now() + timeout;
  for (let delay = PAUSES.first; ; delay = Math.min(delay * 2, PAUSES.longest)) {
    const left = deadline - performance.now();
    const complaint = await probe(url, Math.max(1, Math.min(left, 2000)));
    if (complaint === undefined || performance.now() + delay > deadline) return complaint;
    await pause(delay);
  }
}

function readTimeout(given: string): number {
  try {
    return duration(given);
  } catch (error) {
    throw error instanceof OptionError ? new OptionError(`--timeout ${error.message}.`) : error;
  }
}
