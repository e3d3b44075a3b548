import { withEmulator } from 'repohost-emulator/vitest';
import { test } from 'vitest';

const emulator = withEmulator();

test.concurrent.each(['one', 'two'])('%s', async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  await fetch(emulator.baseUrl);
});
