/**
 * Part of the emulator, and the tests that should detect small changes of its code. `tests` has test files and folders.
 */
interface Target {
  /** Folders and source files below `emulator/`. Test files in these folders are excluded. */
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

export const TARGETS: Readonly<Record<string, Target>> = {
  auth: {
    sources: ['auth'],
    tests: [
      'auth',
      'api/operations/git-over-http',
      'test/git/policy',
      'test/git/signed-pushes',
      'test/pipeline/check-order',
      'cli/commands',
    ],
  },
  chain: {
    sources: ['pipeline'],
    tests: [
      'pipeline',
      'server',
      'library',
      'test/pipeline/check-order',
      'test/variants/variants',
      'test/operations/error-contract',
      'test/operations/routes',
      'test/operations/repositories',
      'test/pipeline/wire',
      'test/pipeline/http-framing',
      'test/pipeline/http-hosts',
      'test/limits/bounds',
      'test/limits/deadlines',
      'test/world/snapshots',
      'test/pipeline/client-disconnects',
      'test/admin/admin',
      'lfs/batch',
    ],
  },
  http: {
    sources: ['http'],
    tests: [
      'http',
      'pipeline',
      'server',
      'library',
      'api/openapi',
      'test/pipeline/wire',
      'test/operations/error-contract',
      'test/operations/routes',
      'test/operations/cursors',
      'test/pipeline/http-framing',
      'test/pipeline/http-hosts',
      'test/pipeline/client-disconnects',
    ],
  },
  repositories: {
    sources: ['repositories'],
    tests: [
      'repositories',
      'test/operations/repositories',
      'test/operations/deployments',
      'test/concurrency/races',
      'lfs/batch',
      'test/concurrency/ref-writers',
    ],
  },
  refs: {
    sources: ['git/refs'],
    tests: [
      'git/refs',
      'smart-http/atomic-pushes',
      'smart-http/receive-pack',
      'test/concurrency/ref-writers',
      'test/concurrency/races',
    ],
  },
  merge: {
    sources: ['git/merge'],
    tests: ['git/merge'],
  },
  faults: {
    sources: ['faults'],
    tests: ['faults', 'test/faults/stages', 'test/faults/in-band', 'test/faults/admin', 'cli/commands/fault-commands'],
  },
  journal: {
    sources: ['journal'],
    tests: ['journal', 'test/journal', 'test/admin/views'],
  },
  world: {
    sources: ['world'],
    tests: ['world', 'test/world', 'test/operations/states', 'test/operations/quotas', 'test/admin/admin'],
  },
};
