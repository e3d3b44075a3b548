import { DOCUMENTS, printAnew } from './documents.js';

// npm run documents: prints the tables of all documents anew.
for (const name of DOCUMENTS) await printAnew(name);
