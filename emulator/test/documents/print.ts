import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { configurations, DOCUMENTS, printAnew, ROOT } from './documents.js';

// npm run documents: updates the tables of all documents, and Biome's configuration of both programs, and names the
// changed files.
for (const { file, text } of configurations()) {
  if (readFileSync(file, 'utf8') === text) continue;
  writeFileSync(file, text);
  console.log(`updated ${relative(ROOT, file)}`);
}
for (const name of DOCUMENTS) if (await printAnew(name)) console.log(`updated ${name}`);
