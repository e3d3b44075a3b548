import { writeFileSync } from 'node:fs';
import { configurations, DOCUMENTS, printAnew } from './documents.js';

// npm run documents: prints the tables of all documents, and Biome's configuration of both programs.
for (const { file, text } of configurations()) writeFileSync(file, text);
for (const name of DOCUMENTS) await printAnew(name);
