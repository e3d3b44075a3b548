import type { CommandModule } from 'yargs';
import { checkUrl, DEFAULT_URL, probe } from './probe.js';
import type { Session } from './session.js';

/** `emulator health`: exit 0 when an emulator answers, 1 when none does. */
export function healthCommand(session: Session): CommandModule<object, { url: string }> {
  return {
    command: 'health',
    describe: 'Exit 0 if the emulator at --url answers, 1 if not',
    builder: (command) =>
      command.option('url', { type: 'string', requiresArg: true, default: DEFAULT_URL, describe: 'Its base address' }),
    handler: async ({ url }) => {
      checkUrl(url);
      const complaint = await probe(url);
      if (complaint === undefined) return session.terminal.print(`The emulator at ${url} is ready.\n`);
      session.terminal.warn(`No emulator at ${url}: ${complaint}.\n`);
      session.exitCode = 1;
    },
  };
}
