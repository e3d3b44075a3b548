import { AdminClient, EMULATOR_FLAGS, printJson } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { Unreached } from '../usage-error.js';

/** `emulator ca`: what to trust for the HTTPS of an emulator that runs. */
export const caCommand = defineCommand({
  name: 'ca',
  describe: 'Print the certificate (PEM) that clients have to trust for the HTTPS of a running emulator',
  flags: EMULATOR_FLAGS,
  run: async ({ json, ...address }, { terminal }) => {
    const client = new AdminClient(address, terminal);
    const answer = (await client.ask('GET', '/ca')) as { certificate?: string };
    if (typeof answer.certificate !== 'string') {
      throw new Unreached(`No emulator at ${client.url}: something that is no emulator answered.`);
    }
    if (json) printJson(terminal, answer);
    else terminal.print(answer.certificate);
  },
});
