import { adminCommand } from '../admin-command.js';
import { Unreached } from '../usage-error.js';

/** Command `emulator ca`: prints the CA certificate of a running emulator. Clients must trust it to use HTTPS. */
export const caCommand = adminCommand({
  name: 'ca',
  describe: 'Print the certificate (PEM) that clients must trust for the HTTPS of a running emulator',
  isOfNamespace: false,
  run: async (_, client) => {
    const response = (await client.ask('GET', '/ca')) as { certificate?: string };
    if (typeof response.certificate !== 'string') {
      throw new Unreached(`No emulator at ${client.url}: the server is not an emulator.`);
    }
    return { json: response, text: response.certificate };
  },
});
