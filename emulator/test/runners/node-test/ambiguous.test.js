import { describe, it } from 'node:test';
import { withEmulator } from 'repohost-emulator/node-test';

const emulator = withEmulator();

describe('tests at the same time', { concurrency: true }, () => {
  for (const name of ['one', 'two']) {
    it(name, async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      await fetch(emulator.baseUrl);
    });
  }
});
