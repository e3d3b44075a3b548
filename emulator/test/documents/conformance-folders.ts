import type { Program } from './folder.js';

export const CONFORMANCE: Program = {
  name: 'conformance',
  never: { group: '**/emulator/**', reason: 'The suite is a black box: it never imports the emulator.' },
  folders: [
    {
      path: 'specification',
      content: 'the table of contradictions and gaps of the specification',
      imports: [],
    },
    { path: 'target', content: 'the target file: addresses, keys, what is allowed', imports: [] },
    { path: 'auth', content: 'valid and invalid tokens', imports: ['target'] },
    { path: 'http', content: 'the client, its rate limit, its recordings', imports: ['auth', 'target'] },
    {
      path: 'check',
      content: 'what a check works with: context, expectations, outcomes, side effects of refused writes',
      imports: ['auth', 'http', 'specification', 'target'],
    },
    { path: 'api', content: 'the documented requests, one line each', imports: ['auth', 'check', 'http'] },
    { path: 'git', content: 'a Git client in memory', imports: ['api', 'auth', 'check', 'http', 'target'] },
    { path: 'fixtures', content: 'repositories that rules share, made on first use', imports: ['api', 'check', 'git'] },
    {
      path: 'rules',
      content: 'the rules, one folder per section of the specification; `companion/` for what it only names',
      imports: ['api', 'auth', 'check', 'fixtures', 'git', 'http', 'specification', 'target'],
      isNested: true,
    },
    {
      path: 'report',
      content: 'results and their schema, redaction, baselines, one file per reporter',
      imports: ['auth', 'http', 'rules', 'specification', 'target'],
      isNested: true,
    },
    {
      path: 'run',
      content: 'one run: preflight, order of rules, shards, scratch repositories and their removal',
      imports: ['auth', 'check', 'http', 'report', 'rules', 'target'],
    },
    {
      path: 'cli',
      content: 'the commands, one file each',
      imports: ['auth', 'http', 'index.js', 'report', 'rules', 'run', 'specification', 'target'],
    },
    { path: 'test', content: 'every rule under tap; `legal/`: servers that conform; `mutants/`: servers that do not' },
  ],
};
