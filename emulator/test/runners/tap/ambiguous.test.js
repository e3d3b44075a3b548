import { withEmulator } from 'repohost-emulator/tap';
import t from 'tap';

const emulator = withEmulator();

t.jobs = 2;
for (const name of ['one', 'two']) {
  t.test(name, { buffered: true }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    await fetch(emulator.baseUrl);
  });
}
