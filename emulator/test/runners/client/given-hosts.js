import { story } from './story.js';

const { EMULATOR_URL, EMULATOR_GIT_URL } = process.env;
// Remotes of this client always begin with https.
await story({ apiBaseUrl: EMULATOR_URL, storageBaseUrl: new URL(EMULATOR_GIT_URL).host }, (remote) =>
  remote.replace('https://', 'http://'),
);
