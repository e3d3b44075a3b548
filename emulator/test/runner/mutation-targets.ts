/** A part of the product, and the tests that are there to see it change: files, or folders of files. */
interface Target {
  /** Folders and files below `emulator/`, without their tests. */
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

export const TARGETS: Readonly<Record<string, Target>> = {
  auth: {
    sources: ['auth'],
    tests: ['auth', 'api/git-over-http', 'test/policy', 'test/signed-pushes', 'test/chain', 'cli/commands'],
  },
  chain: {
    sources: ['service/chain', 'service/app.ts', 'service/request-context.ts'],
    tests: [
      'service',
      'test/chain',
      'test/variants',
      'test/error-contract',
      'test/routes',
      'test/repositories',
      'test/wire',
      'test/http-framing',
      'test/http-hosts',
      'test/bounds',
      'test/deadlines',
      'test/snapshots',
      'test/client-disconnects',
      'test/admin',
      'lfs/batch',
    ],
  },
  http: {
    sources: ['http'],
    tests: [
      'http',
      'service',
      'api/openapi',
      'test/wire',
      'test/error-contract',
      'test/routes',
      'test/cursors',
      'test/http-framing',
      'test/http-hosts',
      'test/client-disconnects',
    ],
  },
  repositories: {
    sources: ['repositories'],
    tests: ['repositories', 'test/repositories', 'test/deployments', 'test/races', 'lfs/batch', 'test/ref-writers'],
  },
  refs: {
    sources: ['git/refs'],
    tests: ['git/refs', 'smart-http/atomic-pushes', 'smart-http/receive-pack', 'test/ref-writers', 'test/races'],
  },
};
