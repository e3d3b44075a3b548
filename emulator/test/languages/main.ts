import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LANGUAGES, missingTool, runExample } from './languages.js';

/*
 * node dist/emulator/test/languages/main.js [name …]
 *
 * Runs the documents' examples for the named programming languages, or for all. If the tools of a language are not
 * installed, skips it and prints the reason.
 */
const wanted = process.argv.slice(2);
for (const language of LANGUAGES) {
  if (wanted.length > 0 && !wanted.includes(language.name)) continue;
  const missing = missingTool(language);
  if (missing !== undefined) {
    console.log(`skipped ${language.name}: this fails: ${missing}`);
    continue;
  }
  const folder = await mkdtemp(join(tmpdir(), 'language-'));
  try {
    const output = await runExample(language, folder);
    console.log(output === undefined ? `ok ${language.name}` : `not ok ${language.name}\n${output}`);
    if (output !== undefined) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
