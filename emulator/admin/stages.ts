import type { Operation } from '../operation/operation.js';

/** Where faults can come in on the way of any request, in order. */
const COMMON = ['accept', 'headers', 'body', 'auth', 'before', 'after', 'response.head', 'response.body'] as const;

/** Those of Git's own operations, by id. */
const OF_GIT: Readonly<Record<string, readonly string[]>> = {
  gitInfoRefs: ['git.advertise'],
  gitUploadPack: ['git.pack'],
  gitReceivePack: ['git.receive', 'git.report'],
};

/** The stages that a request of `operation` comes through. */
export function stagesOf({ id }: Pick<Operation, 'id'>): readonly string[] {
  return [...COMMON, ...(OF_GIT[id] ?? [])];
}
