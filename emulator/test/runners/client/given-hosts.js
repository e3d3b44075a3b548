import { story } from './story.js';

const { EMULATOR_URL, EMULATOR_GIT_URL } = process.env;
// Replace https by http in the URL of the remote, because this client always returns an https URL.
await story({ apiBaseUrl: EMULATOR_URL, storageBaseUrl: new URL(EMULATOR_GIT_URL).host }, (remote) =>
  remote.replace('https://', 'http://'),
);
