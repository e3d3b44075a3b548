const { withEmulator } = require('repohost-emulator/jest');

const emulator = withEmulator();

test.concurrent.each(['one', 'two'])('%s', async () => {
  await fetch(emulator.baseUrl);
});
