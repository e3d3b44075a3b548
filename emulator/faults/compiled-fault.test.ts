import t from 'tap';
import { Problem } from '../http/problem.js';
import { type CompileContext, compileFault } from './compiled-fault.js';
import type { Fault } from './fault.js';
import { parseFault } from './grammar.js';
import { OPERATIONS } from './test/facts.js';

const CONTEXT: CompileContext = { where: 'x', now: Date.UTC(2026, 0, 1), operations: OPERATIONS };
const ERROR = { error: { code: 'conflict' } } as const;

t.test('a fault that could never fire is refused', async (t) => {
  const rows: readonly (readonly [fault: Fault | string, sentence: RegExp, inBand?: 'header' | 'claim'])[] = [
    [{}, /exactly one of the members do and sequence/],
    [{ do: ERROR, sequence: [ERROR] }, /exactly one of the members do and sequence/],
    [{ sequence: ['pass', 'pass'] }, /sequence has only "pass"/],
    [{ match: { op: 'commitpack' }, do: ERROR }, /match\.op: unknown operation "commitpack"\. `emulator routes` lists/],
    [{ match: { op: 'svn*' }, do: ERROR }, /unknown operation "svn\*"/],
    [
      parseFault('refuse;ms=1', 'x').fault,
      /the stage accept is over before a fault in a header or token is read/,
      'header',
    ],
    [parseFault('refuse@before;ms=1', 'x').fault, /refuse is not possible at the stage before/],
    [{ match: { repo: 'a' }, do: { tls: { how: 'reset' } } }, /match\.repo is not yet known at accept/],
    [{ match: { op: ['commitPack', 'none'] }, do: ERROR }, /unknown operation "none"/],
    [{ do: ERROR, when: { from: 'PT5S', until: 'PT5S' } }, /until must be after when\.from/],
    [{ do: ERROR, when: { from: '2026-01-02', until: 'PT1H' } }, /until must be after when\.from/],
    [
      { match: { op: 'getRepository' }, at: 'git.pack', do: { cut: {} } },
      /git\.pack is not possible for getRepository/,
    ],
    [{ match: { op: 'getRepository' }, at: 'body', do: ERROR }, /body is not possible for getRepository/],
    [{ match: { op: 'commit*' }, do: { ng: { unpack: 'no' } } }, /ng is not possible for commitPack/],
    [
      { match: { op: 'gitInfoRefs' }, do: { cut: {} } },
      /cut is not possible for gitInfoRefs\. The stages at which cut is possible are/,
    ],
    [
      { match: { op: 'gitReceivePack' }, do: { drop_object: { bytes: 1 } } },
      /drop_object is not possible for gitReceivePack/,
    ],
    [
      { at: 'before', do: { lost: 'fin' } },
      /the fault lost is not possible at the stage before\. It is possible at after, git\.report/,
    ],
    [
      { at: 'response.body', do: { cut: { at: { objects: 1 } } } },
      /not possible at the stage response\.body\. It is possible at git\.pack/,
    ],
    [{ at: 'before', do: { cut: {} } }, /cut is not possible at the stage before/],
    [{ match: { token: { sub: 'a' } }, at: 'auth', do: ERROR }, /match\.token\.sub is not yet known at auth/],
    [
      { match: { token: { claims: { a: 'a' } } }, at: 'headers', do: ERROR },
      /token\.claims is not yet known at headers/,
    ],
    [{ at: 'auth', match: { git: { ref: 'refs/heads/main' } }, do: ERROR }, /git\.ref is not yet known at auth/],
    [
      { at: 'before', match: { git: { command: 'fetch' } }, do: ERROR },
      /git\.command is not yet known at before.*It is known at after, response\.head, response\.body, git\.pack/,
    ],
    [
      { match: { http: { body: { '/a': 'a' } }, op: 'gitReceivePack' }, do: ERROR },
      /no operation matches the conditions/,
    ],
    [{ match: { git: { phase: 'rpc' }, op: 'gitInfoRefs' }, do: ERROR }, /no operation matches the conditions/],
    [{ match: { git: { service: 'upload-pack' }, op: 'gitReceivePack' }, do: ERROR }, /no operation matches/],
    [{ match: { repo: 'a' }, at: 'accept', do: { latency: { ms: 1 } } }, /match\.repo is not yet known at accept/],
    [{ match: { op: '*' }, at: 'accept', do: { latency: { ms: 1 } } }, /match\.op is not yet known at accept/],
    ['internal_error@headers', /the stage headers is over before a fault in a header or token is read/, 'header'],
    ['latency@accept;ms=1', /the stage accept is over before/, 'claim'],
  ];
  for (const [fault, sentence, inBand] of rows) {
    const definition = typeof fault === 'string' ? parseFault(fault, 'x').fault : fault;
    try {
      compileFault(definition, { ...CONTEXT, ...(inBand && { inBand }) });
      t.fail(`${JSON.stringify(fault)} was taken`);
    } catch (error) {
      t.ok(error instanceof Problem && error.code === 'bad_request', JSON.stringify(fault));
      t.match((error as Problem).detail, sentence, JSON.stringify(fault));
    }
  }
});

t.test('a fault that some request can trigger is accepted', async (t) => {
  const rows: readonly Fault[] = [
    { do: ERROR },
    { match: { op: '*' }, do: { cut: { at: { objects: 1 } } } },
    { match: { op: 'g*' }, at: 'git.report', do: { ng: { unpack: 'no' } } },
    { match: { git: { ref: 'refs/heads/*' } }, at: 'git.report', do: { lost: 'rst' } },
    { match: { git: { command: 'fetch' } }, do: { cut: {} } },
    { match: { http: { body: { '/a': 'a' } } }, do: ERROR },
    { match: { token: { sub: 'a' } }, do: ERROR },
    { match: { op: 'gitInfoRefs' }, at: 'git.advertise', do: ERROR },
    { at: 'accept', do: { latency: { ms: 1 } } },
  ];
  for (const fault of rows) t.ok(compileFault(fault, CONTEXT), JSON.stringify(fault));
  t.ok(compileFault({ at: 'auth', match: { token: { sub: 'a' } }, do: ERROR }, { ...CONTEXT, inBand: 'claim' }));
});
