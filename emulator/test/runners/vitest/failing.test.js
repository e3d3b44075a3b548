import { withEmulator } from 'repohost-emulator/vitest';
import { test } from 'vitest';

const emulator = withEmulator({ client: true });

test('a fault that does not fire', async () => {
  emulator.fault('lost*1');
  await fetch(`${emulator.baseUrl}/api/repos?unfired`);
});

test('a fault that was removed before it fired', async () => {
  emulator.fault('lost*2').remove();
});

test('an impolite client', async () => {
  await fetch(`${emulator.baseUrl}/api/repos?impolite`);
  await fetch(`${emulator.baseUrl}/api/repos?impolite`);
});

test('a test that fails by itself', async () => {
  await fetch(`${emulator.baseUrl}/api/repos?by-itself`);
  throw new Error('by itself');
});

test('a test that passes', async () => {
  await fetch(`${emulator.baseUrl}/api/repos?passes`);
});
