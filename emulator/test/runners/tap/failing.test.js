import { withEmulator } from 'repohost-emulator/tap';
import t from 'tap';

const emulator = withEmulator({ client: true });

t.test('a fault that does not fire', async () => {
  emulator.fault('lost*1');
  await fetch(`${emulator.baseUrl}/api/repos?unfired`);
});

t.test('a fault that was removed before it fired', async () => {
  emulator.fault('lost*2').remove();
});

t.test('an impolite client', async () => {
  await fetch(`${emulator.baseUrl}/api/repos?impolite`);
  await fetch(`${emulator.baseUrl}/api/repos?impolite`);
});

t.test('a test that fails by itself', async () => {
  await fetch(`${emulator.baseUrl}/api/repos?by-itself`);
  throw new Error('by itself');
});

t.test('a test that passes', async () => {
  await fetch(`${emulator.baseUrl}/api/repos?passes`);
});
